// SPDX-License-Identifier: Apache-2.0
//
// From Arrow's statuses to our errors. Internal to io: no other room sees Arrow.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <string>
#include <utility>

namespace dfcl::io {

// Throws Error of kind file unless the status is good. `doing` is "read" or "write".
void require_good(const arrow::Status& status, const std::string& path, const char* doing);

template <class T>
T require_value(arrow::Result<T> result, const std::string& path, const char* doing) {
  require_good(result.status(), path, doing);
  return std::move(result).ValueUnsafe();
}

}  // namespace dfcl::io
