// SPDX-License-Identifier: Apache-2.0
//
// What a run that can be resumed has written outside its folder: outputs.json in the folder names each file with a hash
// of its bytes. The same command may write such a file again, for it replaces its own work; any other file that is
// there is somebody else's. Time: one pass over each file. Internal to verbs.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"

namespace dfcl::verbs {

class WrittenFiles {
 public:
  // folder: a checkpoint's or a comparison's; nothing: no file is remembered.
  explicit WrittenFiles(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  // As verbs::require_output, but a file that this run wrote may be there. Throws Error of kind file, too, where the
  // folder has another outputs.json.
  void require_output(const char* field, const std::string& output, std::initializer_list<std::string> inputs,
                      const core::RunContext& context) const;
  // Writes the file by `write`, and lists it: before, so that a run that is killed finds its own file, and after, by
  // its bytes. The folder must be there.
  void write(const std::string& output, const std::function<void()>& write) const;

 private:
  bool wrote(const std::string& output) const;

  std::optional<std::string> folder_;
};

}  // namespace dfcl::verbs
