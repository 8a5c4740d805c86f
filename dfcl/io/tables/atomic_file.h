// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: written under a random name in the same folder, then renamed. Whatever stood
// under the name before stays until then, and keeps its owner and its permissions; a link stays a link, and what it
// points to is replaced. The temporary goes if commit() is never reached; those of processes that were killed go when
// the same file is written next. Devices, pipes and the descriptors of this process (/dev/null, /dev/stdout) are no
// files to replace: they are written as it comes. Costs a look at all names of the folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dfcl/core/file_calls.h"

namespace dfcl::io {

class AtomicFile {
 public:
  // Creates the temporary. Throws Error of kind file when the folder is absent or cannot be written to, or when
  // something stands under the name that is neither a file nor a stream of bytes.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // What messages call it.
  const std::string& path() const { return path_; }
  // A device, a pipe or a descriptor: nothing is replaced, and nothing can lie beside it.
  bool is_stream() const { return is_stream_; }
  // A stream is opened now: a pipe waits for its reader.
  void write(std::string_view bytes);
  // Where the bytes go; they can be read back unless it is a stream.
  int descriptor();
  // Flushes the temporary to disk and gives it its name.
  void commit();

 private:
  void make_temporary(unsigned mode);

  std::string path_;
  std::string place_;  // path_ without its links
  std::string temporary_;
  bool is_stream_ = false;
  core::Descriptor file_;
};

// Whether the path names something that AtomicFile writes to as it comes.
bool is_stream(const std::string& path);

// The file that a link leads to; of a stream, and where there is no link, the path itself.
std::string path_without_links(const std::string& path);

// For lines that are added while others write, too: a descriptor of this process (/dev/stdout) is that descriptor, with
// its position. Below 0 with errno.
core::Descriptor open_to_append(const std::string& path);

// Whether a name in a folder is that of a temporary.
bool is_temporary_name(std::string_view name);

void write_text_file(const std::string& path, std::string_view text);

// The whole of a text file. Throws Error of kind file; larger than `most_bytes` is refused.
std::string read_text_file(const std::string& path, std::size_t most_bytes);

}  // namespace dfcl::io
