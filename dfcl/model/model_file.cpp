// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/learn/part.h"
#include "dfcl/model/format_1.h"
#include "dfcl/model/learners.h"
#include "dfcl/model/model_json.h"

namespace dfcl::model {
namespace {

constexpr const char* kFormat = "dfcl-model";
constexpr const char* kKeys = "trained.keys";

[[noreturn]] void refuse(const std::string& where, std::string what, std::string found = "", std::string hint = "") {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = std::move(what),
                     .where = where,
                     .found = std::move(found),
                     .hint = std::move(hint)});
}

void put_keys(io::TensorFile& file, const std::vector<std::uint64_t>& keys) {
  std::vector<std::int64_t> values;
  for (const std::uint64_t key : keys) values.push_back(std::bit_cast<std::int64_t>(key));
  file.tensors.push_back({kKeys, {values.size()}, values});
}

std::vector<std::uint64_t> keys_of(const io::TensorFile& file, const std::string& where) {
  const io::Tensor* tensor = file.find(kKeys);
  const auto* values = tensor == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&tensor->values);
  if (values == nullptr) refuse(where, fmt::format("a model file with a malformed tensor '{}'", kKeys));
  std::vector<std::uint64_t> keys;
  for (const std::int64_t value : *values) keys.push_back(std::bit_cast<std::uint64_t>(value));
  return keys;
}

// Whatever the order of the tensors.
std::string bytes_by_name(io::TensorFile file) {
  std::sort(file.tensors.begin(), file.tensors.end(),
            [](const io::Tensor& a, const io::Tensor& b) { return a.name < b.name; });
  return io::safetensors_bytes(std::move(file));
}

int format_of(const io::TensorFile& file, const std::string& where) {
  if (learn::text_of(file, "format", where) != kFormat) refuse(where, "not a model of dfcl");
  const std::uint64_t version = learn::whole_number(learn::text_of(file, "format_version", where), where);
  if (version > kFormatVersion) {
    refuse(where, "a model file of a later version of dfcl",
           fmt::format("format {}, written by dfcl {}", version,
                       core::printable_start(learn::text_of(file, "version", where))),
           fmt::format("this dfcl reads formats up to {}; install the version that wrote the model, or train again",
                       kFormatVersion));
  }
  if (version == 0) refuse(where, "a model file of an unknown format", fmt::format("{}", version));
  return static_cast<int>(version);
}

Model model_of_parts(const io::TensorFile& file, const std::string& where) {
  const auto text = [&](const std::string& key) { return learn::text_of(file, key, where); };
  Model model;
  model.version = text("version");
  model.method = text("method");
  model.seed = learn::whole_number(text("seed"), where);
  model.id_column = text("id_column");
  model.study = text("study");
  model.record = text("record");
  for (const auto& [key, is_optional] : json_part_names()) {
    if (!is_optional || learn::has_text(file, key)) set_json_part(model, key, text(key), where);
  }
  model.trained.keys = keys_of(file, where);
  const learn::Schema schema = model.schema();
  model.predictors = learn::PartReader(file, "", where, schema, find_loader).predictors("predictors");
  require_consistent(model, where);
  return model;
}

}  // namespace

io::TensorFile tensor_file_of(const Model& model) {
  require_consistent(model, "model");
  io::TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"format_version", std::to_string(kFormatVersion)},
                   {"version", model.version},
                   {"method", model.method},
                   {"seed", std::to_string(model.seed)},
                   {"id_column", model.id_column},
                   {"is_index", model.is_index() ? "true" : "false"}};
  learn::put_text(file, "study", model.study);
  learn::put_text(file, "record", model.record);
  for (const auto& [key, json] : json_parts_of(model)) learn::put_text(file, key, json);
  put_keys(file, model.trained.keys);
  learn::PartWriter(file, "").predictors("predictors", model.predictors);
  return file;
}

Model model_of(const io::TensorFile& file, const std::string& where) {
  const bool is_old = format_of(file, where) == 1;
  const io::TensorFile converted = is_old ? from_format_1(file, where) : io::TensorFile();
  const io::TensorFile& parts = is_old ? converted : file;
  Model model = model_of_parts(parts, where);
  // Whatever was not understood is missing from what would be written.
  const io::TensorFile again = tensor_file_of(model);
  const bool same = is_old ? bytes_by_name(again) == bytes_by_name(parts)
                           : io::safetensors_bytes(again) == io::safetensors_bytes(parts);
  if (!same) refuse(where, "a model file with parts that make no sense together");
  return model;
}

void write_model(const std::string& path, const Model& model) { io::write_safetensors(path, tensor_file_of(model)); }

Model read_model(const std::string& path) { return model_of(io::read_safetensors(path), path); }

std::string fingerprint_of(const Model& model) { return io::checksum_of(tensor_file_of(model)); }

}  // namespace dfcl::model
