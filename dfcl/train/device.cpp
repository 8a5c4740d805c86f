// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/device.h"

#include <fmt/format.h>

#include "dfcl/core/error_makers.h"
#include "dfcl/nn/cuda/card.h"

namespace dfcl::train {
namespace {

// Of networks on a graphics card (docs/decisions/0130).
constexpr std::size_t kFitsAtOnce = 6;

core::Precision precision_named(const std::string& name) {
  for (const auto precision : {core::Precision::tf32, core::Precision::fp32, core::Precision::bf16}) {
    if (core::name_of(precision) == name) return precision;
  }
  throw core::field_error("precision", "unknown", name, "tf32, fp32 or bf16");
}

}  // namespace

core::Device choose_device(const std::string& device, const std::string& precision, core::RunContext& context) {
  if (device != "auto" && device != "cpu" && device != "cuda")
    throw core::field_error("device", "unknown", device, "auto, cpu or cuda");
  const core::Precision found = precision_named(precision);
  if (device == "cpu") return {};
  if (device == "cuda") {
    nn::cuda::require_card();
    return {.card = true, .precision = found, .fits_at_once = kFitsAtOnce};
  }
  const nn::cuda::CardAnswer answer = nn::cuda::find_card();
  if (!answer.name.empty())
    return {.card = true, .may_fall_back = true, .precision = found, .fits_at_once = kFitsAtOnce};
  if (nn::cuda::has_support()) context.warn(fmt::format("{}; networks are trained on the processor", answer.reason));
  return {};
}

std::string name_of(const core::Device& device) {
  return device.card ? "cuda, " + core::name_of(device.precision) : "cpu";
}

Settings with_device(Settings settings, const core::RunContext& context) {
  if (context.device.card) settings.device = name_of(context.device);
  return settings;
}

}  // namespace dfcl::train
