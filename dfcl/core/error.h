// SPDX-License-Identifier: Apache-2.0
//
// The one exception type of the library. An Error ends the operation and says what is wrong, where, what was
// found, what was expected and how to go on; the kind is the exit code of the command-line program. Results that
// are merely unwelcome (a budget that cannot be met, an unfit trial) are statuses in result structs, not errors.
#pragma once

#include <exception>
#include <string>

#include "dfcl/core/field.h"

namespace dfcl::core {

// The values are the exit codes of the program.
enum class ErrorKind : int {
  internal = 1,       // a bug of ours
  usage = 2,          // an option or a study key
  data = 3,           // the contents of an input
  file = 4,           // a file or folder that cannot be read or written
  unavailable = 5,    // not available on this machine or in this build
  infeasible = 6,     // the budget cannot be met
  unfit = 7,          // the trial is unfit to learn from
  interrupted = 130,  // the user asked to stop
};

struct ErrorDetails {
  ErrorKind kind = ErrorKind::internal;
  // What the caller set wrongly: a field of the request ("min_roi") or a key of the study ("method.alpha").
  std::string field = {};
  std::string what = {};      // the problem in one sentence, without a full stop
  std::string where = {};     // "trial.csv:1042, column 'arm'"
  std::string found = {};     // the offending value
  std::string expected = {};  // what would have been right
  std::string hint = {};      // what the user can do
};

class Error : public std::exception {
 public:
  explicit Error(ErrorDetails details);
  const char* what() const noexcept override { return message_.c_str(); }
  const ErrorDetails& details() const noexcept { return details_; }
  ErrorKind kind() const noexcept { return details_.kind; }

 private:
  ErrorDetails details_;
  std::string message_;
};

// The details as a caller shows them: fields written in its style, control characters gone, long parts cut. `field`
// stays the library's name.
ErrorDetails rendered(const ErrorDetails& details, const FieldStyle& style);

// "where, field: what: found F, expected E" and, on a second line, "hint: ...".
std::string to_message(const ErrorDetails& details, const FieldStyle& style = plain_field);

}  // namespace dfcl::core
