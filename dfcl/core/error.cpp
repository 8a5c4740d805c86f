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

ErrorDetails rendered(const ErrorDetails& details, const FieldStyle& style) {
  ErrorDetails shown_details = details;
  shown_details.field = shown(details.field);
  for (std::string ErrorDetails::*part : {&ErrorDetails::what, &ErrorDetails::where, &ErrorDetails::found,
                                          &ErrorDetails::expected, &ErrorDetails::hint}) {
    shown_details.*part = shown(render_fields(details.*part, style));
  }
  return shown_details;
}

std::string to_message(const ErrorDetails& details, const FieldStyle& style) {
  const ErrorDetails parts = rendered(details, style);
  std::string message = parts.where;
  // A key that stands in a file (it has a place) is written as it stands there, whatever the style.
  const bool is_in_file = !parts.where.empty() && parts.field.find('.') != std::string::npos;
  if (!parts.field.empty())
    message +=
        (message.empty() ? "" : ", ") + shown(is_in_file ? plain_field(parts.field, "") : style(parts.field, ""));
  if (!message.empty()) message += ": ";
  message += parts.what;
  if (!parts.found.empty()) message += ": found " + parts.found;
  if (!parts.expected.empty()) message += (parts.found.empty() ? ": expected " : ", expected ") + parts.expected;
  if (!parts.hint.empty()) message += "\nhint: " + parts.hint;
  return message;
}

Error::Error(ErrorDetails details) : details_(std::move(details)), message_(to_message(details_)) {}

}  // namespace dfcl::core
