// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/part.h"

#include <fmt/format.h>

#include <charconv>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tensors/strict_json.h"

namespace dfcl::learn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostPredictors = 1'000;
constexpr double kMostWeight = 1e9;  // weighted sums of any predictions stay finite
constexpr int kMostDepth = 3;        // of JSON
constexpr int kMostInside = 4;       // predictors inside predictors

[[noreturn]] void refuse_file(const std::string& where, std::string what, std::string found = "") {
  throw core::Error(
      {.kind = core::ErrorKind::file, .what = std::move(what), .where = where, .found = std::move(found)});
}

std::string part_name(const std::string& name, std::size_t place) { return fmt::format("{}.{}.", name, place); }

}  // namespace

void put_text(io::TensorFile& file, const std::string& key, const std::string& text) {
  if (text.size() <= kMostHeaderText) {
    file.metadata[key] = text;
  } else {
    file.tensors.push_back({"text." + key, {text.size()}, std::vector<std::uint8_t>(text.begin(), text.end())});
  }
}

bool has_text(const io::TensorFile& file, const std::string& key) {
  return file.metadata.contains(key) || file.find("text." + key) != nullptr;
}

std::string text_of(const io::TensorFile& file, const std::string& key, const std::string& where) {
  if (const auto entry = file.metadata.find(key); entry != file.metadata.end()) return entry->second;
  const io::Tensor* tensor = file.find("text." + key);
  const auto* bytes = tensor == nullptr ? nullptr : std::get_if<std::vector<std::uint8_t>>(&tensor->values);
  if (bytes == nullptr) refuse_file(where, fmt::format("a model file without '{}'", key));
  return {bytes->begin(), bytes->end()};
}

std::uint64_t whole_number(const std::string& text, const std::string& where) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    refuse_file(where, "a model file with a malformed number", core::printable(text.substr(0, 40)));
  return number;
}

void PartWriter::text(const std::string& key, const std::string& text) const { put_text(*file_, prefix_ + key, text); }

void PartWriter::tensor(const std::string& name, std::vector<std::uint64_t> shape, io::TensorValues values) const {
  file_->tensors.push_back({prefix_ + name, std::move(shape), std::move(values)});
}

void PartWriter::predictors(const std::string& name, const std::vector<WeightedPredictor>& list) const {
  ordered_json entries = ordered_json::array();
  for (const WeightedPredictor& part : list)
    entries.push_back({{"kind", part.predictor->kind()}, {"weight", part.weight}});
  text(name, entries.dump());
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i].predictor->save(PartWriter(*file_, prefix_ + part_name(name, i)));
}

std::string PartReader::text(const std::string& key) const { return text_of(file_, prefix_ + key, where_); }

std::uint64_t PartReader::number(const std::string& key) const { return whole_number(text(key), where_); }

std::vector<PartReader::Named> PartReader::tensors(const std::string& beginning) const {
  std::vector<Named> found;
  const std::string begins = prefix_ + beginning;
  for (const io::Tensor& tensor : file_.tensors) {
    if (tensor.name.starts_with(begins)) found.push_back({tensor.name.substr(prefix_.size()), &tensor});
  }
  return found;
}

std::vector<WeightedPredictor> PartReader::predictors(const std::string& name) const {
  const std::string list = text(name);
  const json entries = io::parse_strictly(list, kMostDepth, where_);
  if (!entries.is_array() || entries.empty() || entries.size() > kMostPredictors || depth_ >= kMostInside)
    refuse(fmt::format("a model file with a malformed part '{}'", name));
  std::vector<WeightedPredictor> predictors;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string kind;
    double weight = 0.0;
    try {
      kind = entries[i].at("kind").get<std::string>();
      weight = entries[i].at("weight").get<double>();
    } catch (const json::exception&) {
    }
    const LoadPredictor load = find_loader_(kind);
    if (load == nullptr || !(weight > 0.0 && weight <= kMostWeight))
      refuse(fmt::format("a model file with a malformed part '{}'", name));
    const PartReader part(file_, prefix_ + part_name(name, i), where_, schema_, find_loader_, depth_ + 1);
    std::unique_ptr<Predictor> predictor = load(part);
    predictor->require_fits(schema_, where_);
    predictors.push_back({std::move(predictor), weight});
  }
  return predictors;
}

void PartReader::refuse_tensor(const std::string& name) const {
  refuse(fmt::format("a model file with a malformed tensor '{}'", prefix_ + name));
}

void PartReader::refuse(std::string what) const { refuse_file(where_, std::move(what)); }

}  // namespace dfcl::learn
