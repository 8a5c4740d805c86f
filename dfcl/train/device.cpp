// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/device.h"

#include <fmt/format.h>

#include "dfcl/core/error_makers.h"
#include "dfcl/nn/cuda/card.h"

namespace dfcl::train {

core::Device choose_device(const std::string& device, const std::string& precision, core::RunContext& context) {
  if (device != "auto" && device != "cpu" && device != "cuda")
    throw core::field_error("device", "unknown", device, "auto, cpu or cuda");
  if (precision != "tf32" && precision != "fp32")
    throw core::field_error("precision", "unknown", precision, "tf32 or fp32");
  const bool exact = precision == "fp32";
  if (device == "cpu") return {};
  if (device == "cuda") {
    nn::cuda::require_card();
    return {.card = true, .exact = exact};
  }
  const nn::cuda::CardAnswer answer = nn::cuda::find_card();
  if (!answer.name.empty()) return {.card = true, .may_fall_back = true, .exact = exact};
  if (nn::cuda::has_support()) context.warn(fmt::format("{}; networks are trained on the processor", answer.reason));
  return {};
}

Settings with_device(Settings settings, const core::RunContext& context) {
  if (context.device.card) settings.device = context.device.exact ? "cuda, fp32" : "cuda, tf32";
  return settings;
}

}  // namespace dfcl::train
