// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/file_format.h"

namespace dfcl::verbs {

void require_text(const char* field, const std::string& value) {
  if (value.empty()) throw core::field_error(field, "is empty");
}

void require_text(const char* field, const std::optional<std::string>& value) {
  if (value) require_text(field, *value);
}

void require_kept_text(const char* field, const std::optional<std::string>& value) {
  require_text(field, value);
  if (value && !core::is_utf8(*value))
    throw core::field_error(field, "text that is not UTF-8", fmt::format("'{}'", core::printable_start(*value)));
}

void require_place(const char* field, const std::string& output, std::initializer_list<std::string> inputs) {
  require_text(field, output);
  std::error_code absent;
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    for (const std::string& file : io::input_files(input)) {
      if (!std::filesystem::equivalent(file, output, absent)) continue;
      throw core::field_error(field, "is an input of this run", fmt::format("'{}'", output), "", "choose another name");
    }
  }
  const io::AtomicFile can_be_written(output);  // its temporary goes at once
}

void require_output(const char* field, const std::string& output, std::initializer_list<std::string> inputs,
                    const core::RunContext& context) {
  require_place(field, output, inputs);
  std::error_code absent;
  if (context.may_overwrite || io::is_stream(output) || !std::filesystem::exists(output, absent)) return;
  throw core::Error({.kind = core::ErrorKind::file,
                     .field = field,
                     .what = "is there already",
                     .found = fmt::format("'{}'", output),
                     .hint = fmt::format("choose another name, or {} replaces it", core::field_name("overwrite"))});
}

void require_folder(const char* field, const std::optional<std::string>& folder) {
  namespace fs = std::filesystem;
  require_text(field, folder);
  if (!folder) return;
  std::error_code absent;
  fs::path place = fs::absolute(*folder).lexically_normal();
  while (!fs::exists(place, absent) && place.has_relative_path()) place = place.parent_path();
  const char* reason = !fs::is_directory(place, absent)            ? "not a folder"
                       : ::access(place.c_str(), W_OK | X_OK) != 0 ? "it cannot be written to"
                                                                   : nullptr;
  if (reason == nullptr) return;
  throw core::Error({.kind = core::ErrorKind::file,
                     .field = field,
                     .what = fmt::format("cannot make the folder '{}'", *folder),
                     .found = fmt::format("'{}': {}", place.string(), reason)});
}

std::string scratch_beside(const std::optional<std::string>& output) {
  if (!output || io::is_stream(*output)) return ".";
  const std::string folder = std::filesystem::path(*output).parent_path().string();
  return folder.empty() ? "." : folder;
}

void require_ending(const char* field, const std::string& output, const char* ending) {
  require_text(field, output);
  if (output.ends_with(ending)) return;
  throw core::field_error(field, "unknown file ending", fmt::format("'{}'", output),
                          fmt::format("a name that ends in {}", ending));
}

void require_table_ending(const char* field, const std::string& output) {
  require_text(field, output);
  try {
    (void)io::format_of_name(output);
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    details.field = field;
    throw core::Error(details);
  }
}

void require_other_file(const char* field, const std::string& output, const std::string& other) {
  const auto place_of = [](const std::string& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file));
  };
  if (output.empty() || other.empty() || place_of(output) != place_of(other)) return;
  throw core::field_error(field, "is another file of this run", fmt::format("'{}'", output), "", "choose another name");
}

std::string path_from(const std::string& study, const std::string& trial) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(study).lexically_normal().parent_path();
  const fs::path relative = fs::absolute(trial).lexically_normal().lexically_relative(folder);
  return relative.empty() ? fs::absolute(trial).string() : relative.generic_string();
}

}  // namespace dfcl::verbs
