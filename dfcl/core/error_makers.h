// SPDX-License-Identifier: Apache-2.0
//
// The two errors that callers can do something about, in one call each: of usage (an option, a key of the study) and of
// data (contents that make no sense). Parts that have nothing to say stay empty.
#pragma once

#include <string>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::core {

inline Error told_error(ErrorKind kind, std::string where, std::string what, std::string found, std::string expected,
                        std::string hint) {
  return Error({.kind = kind,
                .what = std::move(what),
                .where = std::move(where),
                .found = std::move(found),
                .expected = std::move(expected),
                .hint = std::move(hint)});
}

inline Error usage_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                         std::string hint = "") {
  return told_error(ErrorKind::usage, std::move(where), std::move(what), std::move(found), std::move(expected),
                    std::move(hint));
}

inline Error data_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                        std::string hint = "") {
  return told_error(ErrorKind::data, std::move(where), std::move(what), std::move(found), std::move(expected),
                    std::move(hint));
}

}  // namespace dfcl::core
