// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/model/forest_tensors.h"
#include "dfcl/model/model_json.h"
#include "dfcl/model/preprocessing_tensors.h"
#include "dfcl/model/strict_json.h"

namespace dfcl::model {
namespace {

constexpr const char* kFormat = "dfcl-model";
constexpr std::size_t kMostNamedTensors = 2'000;  // beyond, the parameters of a member are one tensor
constexpr std::size_t kMostMembers = 1'000;

[[noreturn]] void refuse(const std::string& where, std::string what, std::string found = "", std::string hint = "") {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = std::move(what),
                     .where = where,
                     .found = std::move(found),
                     .hint = std::move(hint)});
}

void put_text(TensorFile& file, const std::string& key, const std::string& text) {
  if (text.size() <= kMostHeaderText) {
    file.metadata[key] = text;
  } else {
    file.tensors.push_back({"text." + key, {text.size()}, std::vector<std::uint8_t>(text.begin(), text.end())});
  }
}

std::string text_of(const TensorFile& file, const std::string& key, const std::string& where) {
  if (const auto entry = file.metadata.find(key); entry != file.metadata.end()) return entry->second;
  const Tensor* tensor = file.find("text." + key);
  const auto* bytes = tensor == nullptr ? nullptr : std::get_if<std::vector<std::uint8_t>>(&tensor->values);
  if (bytes == nullptr) refuse(where, fmt::format("a model file without '{}'", key));
  return {bytes->begin(), bytes->end()};
}

std::uint64_t whole_number(const std::string& text, const std::string& where) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    refuse(where, "a model file with a malformed number", core::printable_start(text));
  }
  return number;
}

// In the order of the parameter vector.
void put_members(TensorFile& file, const Model& model) {
  const nn::OutcomeNetwork<float> outcome_network(model.network);
  std::vector<nn::Tensor> tensors = outcome_network.network().tensors();
  std::sort(tensors.begin(), tensors.end(),
            [](const nn::Tensor& a, const nn::Tensor& b) { return a.offset < b.offset; });
  const bool named = tensors.size() * model.members.size() <= kMostNamedTensors;
  for (std::size_t member = 0; member < model.members.size(); ++member) {
    const std::vector<float>& parameters = model.members[member];
    if (!named) {
      file.tensors.push_back({fmt::format("network.{}", member), {parameters.size()}, parameters});
      continue;
    }
    for (const nn::Tensor& tensor : tensors) {
      const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      std::vector<std::uint64_t> shape = {tensor.rows};
      if (tensor.name.ends_with("weight")) shape.push_back(tensor.cols);
      file.tensors.push_back({fmt::format("network.{}.{}", member, tensor.name), shape,
                              std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tensor.size()))});
    }
  }
}

// The numbers of all tensors of a member, one after the other. That names, shapes and order are right is seen when the
// model is written again.
std::vector<std::vector<float>> members_of(const TensorFile& file, std::size_t num_members, const std::string& where) {
  if (num_members == 0 || num_members > kMostMembers) refuse(where, "a model file with a wrong number of members");
  std::vector<std::vector<float>> members(num_members);
  for (const Tensor& tensor : file.tensors) {
    constexpr std::string_view kPrefix = "network.";
    if (!tensor.name.starts_with(kPrefix)) continue;
    const std::string number =
        tensor.name.substr(kPrefix.size(), tensor.name.find('.', kPrefix.size()) - kPrefix.size());
    const std::uint64_t member = whole_number(number, where);
    const auto* values = std::get_if<std::vector<float>>(&tensor.values);
    if (member >= num_members || values == nullptr) refuse(where, "a model file with a tensor of no member");
    members[member].insert(members[member].end(), values->begin(), values->end());
  }
  return members;
}

void require_version(const TensorFile& file, const std::string& where) {
  if (text_of(file, "format", where) != kFormat) refuse(where, "not a model of dfcl");
  const std::uint64_t version = whole_number(text_of(file, "format_version", where), where);
  if (version > kFormatVersion) {
    refuse(
        where, "a model file of a later version of dfcl",
        fmt::format("format {}, written by dfcl {}", version, core::printable_start(text_of(file, "version", where))),
        fmt::format("this dfcl reads format {}; install the version that wrote the model, or train again",
                    kFormatVersion));
  }
  if (version != kFormatVersion) refuse(where, "a model file of an unknown format", fmt::format("{}", version));
}

}  // namespace

TensorFile tensor_file_of(const Model& model) {
  require_consistent(model, "model");
  TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"format_version", std::to_string(kFormatVersion)},
                   {"version", model.version},
                   {"method", model.method},
                   {"seed", std::to_string(model.seed)},
                   {"id_column", model.id_column},
                   {"is_index", model.is_index() ? "true" : "false"},
                   {"members", std::to_string(model.members.size())}};
  put_text(file, "study", model.study);
  put_text(file, "record", model.record);
  for (const auto& [key, json] : json_parts_of(model)) put_text(file, key, json);
  put_preprocessing(file, model.preprocessing);
  put_keys(file, model.trained.keys);
  put_members(file, model);
  if (model.forest) put_forest(file, *model.forest);
  return file;
}

Model model_of(const TensorFile& file, const std::string& where) {
  require_version(file, where);
  const auto text = [&](const char* key) { return text_of(file, key, where); };
  Model model;
  model.version = text("version");
  model.method = text("method");
  model.seed = whole_number(text("seed"), where);
  model.id_column = text("id_column");
  model.study = text("study");
  model.record = text("record");
  for (const std::string& key : json_part_names()) set_json_part(model, key, text_of(file, key, where), where);
  model.preprocessing = preprocessing_of(file, model.features.size(), where);
  model.trained.keys = keys_of(file, where);
  model.members = members_of(file, whole_number(text("members"), where), where);
  model.forest = forest_of(file, where);
  require_consistent(model, where);
  // Whatever was not understood is missing from what would be written.
  if (safetensors_bytes(tensor_file_of(model)) != safetensors_bytes(file)) {
    refuse(where, "a model file with parts that make no sense together");
  }
  return model;
}

void write_model(const std::string& path, const Model& model) { write_safetensors(path, tensor_file_of(model)); }

Model read_model(const std::string& path) { return model_of(read_safetensors(path), path); }

std::string fingerprint_of(const Model& model) { return checksum_of(tensor_file_of(model)); }

}  // namespace dfcl::model
