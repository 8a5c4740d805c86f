// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/train/record_json.h"

namespace dfcl::train {
namespace {

namespace fs = std::filesystem;

template <class T>
void put(model::TensorFile& file, const char* name, const std::vector<T>& values) {
  if (!values.empty()) file.tensors.push_back({name, {values.size()}, values});
}

template <class T>
void take(const model::TensorFile& file, const char* name, std::vector<T>& values) {
  const model::Tensor* tensor = file.find(name);
  const auto* found = tensor == nullptr ? nullptr : std::get_if<std::vector<T>>(&tensor->values);
  values = found == nullptr ? std::vector<T>() : *found;
}

// Scalars travel as one tensor of whole numbers and one of floating ones.
void put_scalars(model::TensorFile& file, const MemberState& state) {
  put(file, "counts",
      std::vector<std::int64_t>{static_cast<std::int64_t>(state.epochs_done),
                                static_cast<std::int64_t>(state.adam_step)});
  put(file, "numbers", std::vector<double>{state.temperature});
}

void take_scalars(const model::TensorFile& file, const std::string& where, MemberState& state) {
  std::vector<std::int64_t> counts;
  std::vector<double> numbers;
  take(file, "counts", counts);
  take(file, "numbers", numbers);
  if (counts.size() != 2 || numbers.size() != 1)
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint", .where = where});
  state.epochs_done = static_cast<std::size_t>(counts[0]);
  state.adam_step = static_cast<std::uint64_t>(counts[1]);
  state.temperature = numbers[0];
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, std::uint64_t run) : folder_(std::move(folder)), run_(run) {
  if (folder_.empty()) return;
  std::error_code code;
  fs::create_directories(folder_, code);
  if (code)
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "cannot make the folder",
                       .where = folder_,
                       .found = fmt::format("'{}'", code.message())});
}

std::string Checkpoint::path_of(const std::string& name) const {
  return (fs::path(folder_) / (name + ".safetensors")).string();
}

std::optional<model::TensorFile> Checkpoint::read(const std::string& name) const {
  if (folder_.empty() || !fs::exists(path_of(name))) return std::nullopt;
  const std::string path = path_of(name);
  model::TensorFile file = model::read_safetensors(path);
  const auto run = file.metadata.find("run");
  if (run == file.metadata.end() || run->second != fmt::format("{:016x}", run_)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "a checkpoint of another run: its data, settings or version differ",
                       .where = path,
                       .hint = "remove the folder to start anew, or name another one"});
  }
  return file;
}

void Checkpoint::write(const std::string& name, model::TensorFile file) const {
  file.metadata["run"] = fmt::format("{:016x}", run_);
  model::write_safetensors(path_of(name), std::move(file));
}

bool Checkpoint::load(const std::string& name, std::vector<double>& numbers) const {
  const std::optional<model::TensorFile> file = read(name);
  if (!file) return false;
  take(*file, "numbers", numbers);
  return true;
}

void Checkpoint::save(const std::string& name, const std::vector<double>& numbers) const {
  if (folder_.empty()) return;
  model::TensorFile file;
  put(file, "numbers", numbers);
  write(name, std::move(file));
}

bool Checkpoint::load(const std::string& name, MemberState& state) const {
  const std::optional<model::TensorFile> found = read(name);
  if (!found) return false;
  const model::TensorFile& file = *found;
  const std::string path = path_of(name);
  const std::size_t num_parameters = state.parameters.size();
  take_scalars(file, path, state);
  take(file, "parameters", state.parameters);
  take(file, "warm_parameters", state.warm_parameters);
  take(file, "adam_mean", state.adam_mean);
  take(file, "adam_mean_square", state.adam_mean_square);
  take(file, "multipliers", state.multipliers);
  std::vector<std::uint8_t> record;
  take(file, "record", record);
  state.record = parse_record({reinterpret_cast<const char*>(record.data()), record.size()}, path);
  const auto fits = [&](const std::vector<float>& part, bool may_be_empty) {
    return part.size() == num_parameters || (may_be_empty && part.empty());
  };
  if (!fits(state.parameters, false) || !fits(state.adam_mean, false) || !fits(state.adam_mean_square, false) ||
      !fits(state.warm_parameters, true)) {
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint of this network", .where = path});
  }
  return true;
}

void Checkpoint::save(const std::string& name, const MemberState& state) const {
  if (folder_.empty()) return;
  model::TensorFile file;
  put(file, "parameters", state.parameters);
  put(file, "warm_parameters", state.warm_parameters);
  put(file, "adam_mean", state.adam_mean);
  put(file, "adam_mean_square", state.adam_mean_square);
  put(file, "multipliers", state.multipliers);
  const std::string record = record_list(state.record);
  put(file, "record", std::vector<std::uint8_t>(record.begin(), record.end()));
  put_scalars(file, state);
  write(name, std::move(file));
}

}  // namespace dfcl::train
