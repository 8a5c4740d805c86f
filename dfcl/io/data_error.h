// SPDX-License-Identifier: Apache-2.0
//
// The Error of contents that make no sense, in one call. Internal to io.
#pragma once

#include <string>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::io {

inline core::Error data_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                              std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::data,
                      .what = std::move(what),
                      .where = std::move(where),
                      .found = std::move(found),
                      .expected = std::move(expected),
                      .hint = std::move(hint)});
}

}  // namespace dfcl::io
