// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/error.h"

#include <utility>

#include "dfcl/core/printable.h"

namespace dfcl::core {

std::string to_message(const ErrorDetails& details) {
  std::string message;
  if (!details.where.empty()) message += printable(details.where) + ": ";
  message += printable(details.what);
  if (!details.found.empty()) message += ": found " + printable(details.found);
  if (!details.expected.empty()) message += (details.found.empty() ? ": expected " : ", expected ") + printable(details.expected);
  if (!details.hint.empty()) message += "\nhint: " + printable(details.hint);
  return message;
}

Error::Error(ErrorDetails details) : details_(std::move(details)), message_(to_message(details_)) {}

}  // namespace dfcl::core
