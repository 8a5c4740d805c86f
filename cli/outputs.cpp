// SPDX-License-Identifier: Apache-2.0
#include "cli/outputs.h"

#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/file_format.h"

namespace dfcl::cli {

void require_output(const std::string& output, std::initializer_list<std::string> inputs) {
  std::error_code absent;
  for (const std::string& input : inputs) {
    for (const std::string& file : io::input_files(input)) {
      if (!std::filesystem::equivalent(file, output, absent)) continue;
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "is an input of this run",
                         .where = output,
                         .hint = "choose another name"});
    }
  }
  const io::AtomicFile can_be_written(output);  // its temporary goes at once
}

}  // namespace dfcl::cli
