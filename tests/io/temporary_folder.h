// SPDX-License-Identifier: Apache-2.0
//
// A folder for one test, removed with what is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace dfcl::io {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfcl-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return (std::filesystem::path(path_) / name).string(); }
  std::string write(std::string_view name, std::string_view text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  bool holds_only(std::initializer_list<std::string_view> names) const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    for (const std::string_view name : names) {
      if (!std::filesystem::exists(file(name))) return false;
    }
    return count == names.size();
  }

 private:
  std::string path_;
};

}  // namespace dfcl::io
