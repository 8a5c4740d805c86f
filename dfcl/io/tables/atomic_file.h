// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: written under a temporary name in the same folder, then renamed. Whatever
// stood under the name before stays until then, and the temporary goes if commit() is never reached.
#pragma once

#include <string>
#include <string_view>

namespace dfcl::io {

class AtomicFile {
 public:
  // Creates the temporary. Throws Error of kind file when the folder is absent or cannot be written to.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }
  // Flushes the temporary to disk and gives it its name.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

void write_text_file(const std::string& path, std::string_view text);

// The whole of a text file. Throws Error of kind file; larger than `most_bytes` is refused.
std::string read_text_file(const std::string& path, std::size_t most_bytes);

}  // namespace dfcl::io
