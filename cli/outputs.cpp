// SPDX-License-Identifier: Apache-2.0
#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/file_format.h"

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

void require_other_file(const std::string& flag, const std::string& output, const std::string& other) {
  const auto place_of = [](const std::string& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file));
  };
  if (output.empty() || other.empty() || place_of(output) != place_of(other)) return;
  throw core::usage_error(flag, "is another file of this run", fmt::format("'{}'", output), "", "choose another name");
}

}  // namespace dfcl::cli
