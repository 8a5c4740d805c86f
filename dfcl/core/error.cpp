// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/error.h"

#include <utility>

#include "dfcl/core/printable.h"

namespace dfcl::core {
namespace {

// A message is for reading: what an input puts into it is cut.
std::string shown(const std::string& text) {
  constexpr std::size_t kMostBytes = 600;
  return printable_start(text, kMostBytes);
}

}  // namespace

std::string to_message(const ErrorDetails& details) {
  std::string message;
  if (!details.where.empty()) message += shown(details.where) + ": ";
  message += shown(details.what);
  if (!details.found.empty()) message += ": found " + shown(details.found);
  if (!details.expected.empty())
    message += (details.found.empty() ? ": expected " : ", expected ") + shown(details.expected);
  if (!details.hint.empty()) message += "\nhint: " + shown(details.hint);
  return message;
}

Error::Error(ErrorDetails details) : details_(std::move(details)), message_(to_message(details_)) {}

}  // namespace dfcl::core
