// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "dfcl/core/error.h"

namespace dfcl::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNumbers = "numbers";

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

std::optional<io::TensorFile> Checkpoint::load(const std::string& name) const {
  if (folder_.empty() || !fs::exists(path_of(name))) return std::nullopt;
  const std::string path = path_of(name);
  io::TensorFile file = io::read_safetensors(path);
  const auto run = file.metadata.find("run");
  if (run == file.metadata.end() || run->second != fmt::format("{:016x}", run_)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "a checkpoint of another run: its data, settings or version differ",
                       .where = path,
                       .hint = "remove the folder to start anew, or name another one"});
  }
  return file;
}

void Checkpoint::save(const std::string& name, io::TensorFile file) const {
  if (folder_.empty()) return;
  file.metadata["run"] = fmt::format("{:016x}", run_);
  io::write_safetensors(path_of(name), std::move(file));
}

bool Checkpoint::load(const std::string& name, std::vector<double>& numbers) const {
  const std::optional<io::TensorFile> file = load(name);
  if (!file) return false;
  const io::Tensor* tensor = file->find(kNumbers);
  const auto* values = tensor == nullptr ? nullptr : std::get_if<std::vector<double>>(&tensor->values);
  numbers = values == nullptr ? std::vector<double>() : *values;
  return true;
}

void Checkpoint::save(const std::string& name, const std::vector<double>& numbers) const {
  io::TensorFile file;
  file.tensors.push_back({kNumbers, {numbers.size()}, numbers});
  save(name, std::move(file));
}

}  // namespace dfcl::train
