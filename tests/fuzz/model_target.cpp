// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "tests/fuzz/targets.h"

namespace dfcl::fuzz {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostElements = 1u << 20;

template <class Values>
Values numbers_at(std::string_view numbers, std::uint64_t begin, std::uint64_t elements) {
  Values values(elements);
  begin = std::min<std::uint64_t>(begin, numbers.size());
  const std::size_t bytes = std::min<std::size_t>(elements * sizeof(values[0]), numbers.size() - begin);
  if (bytes > 0) std::memcpy(values.data(), numbers.data() + begin, bytes);
  return values;
}

// Numbers that are not finite never come this far in a file.
template <class Values>
Values finite(Values values) {
  for (auto& value : values)
    if (!std::isfinite(value)) value = 0;
  return values;
}

// False where it is no tensor that a file could hold.
bool read_tensor(const std::string& name, const Json& entry, std::string_view numbers, io::TensorFile& file) {
  if (!entry.is_object() || !entry.contains("shape") || !entry.contains("data_offsets")) return false;
  io::Tensor tensor{name, {}, {}};
  std::uint64_t elements = 1;
  for (const Json& size : entry["shape"]) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > kMostElements) return false;
    tensor.shape.push_back(size.get<std::uint64_t>());
    elements *= tensor.shape.back();
    if (elements > kMostElements) return false;
  }
  const Json& place = entry["data_offsets"];
  if (!place.is_array() || place.empty() || !place[0].is_number_unsigned()) return false;
  const auto begin = place[0].get<std::uint64_t>();
  const auto type = entry.find("dtype");
  if (type == entry.end()) return false;
  if (*type == "F64")
    tensor.values = finite(numbers_at<std::vector<double>>(numbers, begin, elements));
  else if (*type == "I64")
    tensor.values = numbers_at<std::vector<std::int64_t>>(numbers, begin, elements);
  else if (*type == "U8")
    tensor.values = numbers_at<std::vector<std::uint8_t>>(numbers, begin, elements);
  else
    tensor.values = finite(numbers_at<std::vector<float>>(numbers, begin, elements));
  file.tensors.push_back(std::move(tensor));
  return true;
}

// A file in the layout of safetensors whose checksum and order nobody looks at: mutations of the header and of the
// numbers reach the readers of every learner.
bool read_loosely(std::string_view bytes, io::TensorFile& file) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length)) return false;
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - sizeof(length)) return false;
  const Json header = Json::parse(bytes.substr(sizeof(length), length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return false;
  const std::string_view numbers = bytes.substr(sizeof(length) + length);
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      if (!read_tensor(name, entry, numbers, file)) return false;
      continue;
    }
    if (!entry.is_object()) return false;
    for (const auto& [key, value] : entry.items())
      if (value.is_string() && key != "checksum") file.metadata[key] = value.get<std::string>();
  }
  return true;
}

// Units that a reader could have read: missing values, codes of levels, small and large numbers.
core::Matrix<float> some_units(const model::Model& model) {
  constexpr std::size_t kUnits = 4;
  core::Matrix<float> units(kUnits, model.features.size());
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    for (std::size_t column = 0; column < model.features.size(); ++column) {
      const data::FeatureColumn& feature = model.features[column];
      const float number = unit == 1 ? std::nanf("") : unit == 2 ? 1e30f : static_cast<float>(column % 7) - 3.0f;
      units(unit, column) = feature.categorical ? static_cast<float>((unit + column) % feature.levels.size()) : number;
    }
  }
  return units;
}

}  // namespace

// What is accepted predicts, too.
void fuzz_model(std::string_view bytes) {
  static core::RunContext context(1);
  io::TensorFile file;
  if (!read_loosely(bytes, file)) return;
  expect_refusal_or_success([&] {
    const model::Model model = model::model_of(file, "model");
    const core::Matrix<float> units = some_units(model);
    core::Matrix<float> revenue(units.rows(), model.arms.size());
    core::Matrix<float> cost(units.rows(), model.arms.size());
    model::predict(model, units.view(), revenue.view(), cost.view(), context);
  });
}

}  // namespace dfcl::fuzz
