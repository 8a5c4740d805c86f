// SPDX-License-Identifier: Apache-2.0
//
// The errors that callers can do something about, in one call each: of a field (a part of the request, a key of the
// study), of usage in general, of data (contents that make no sense). Parts that have nothing to say stay empty. Texts
// never spell flags: they embed field_name("min_roi").
#pragma once

#include <string>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::core {

inline Error make_error(ErrorKind kind, std::string where, std::string what, std::string found, std::string expected,
                        std::string hint, std::string field = "") {
  return Error({.kind = kind,
                .field = std::move(field),
                .what = std::move(what),
                .where = std::move(where),
                .found = std::move(found),
                .expected = std::move(expected),
                .hint = std::move(hint)});
}

// field: "min_roi" or "method.alpha".
inline Error field_error(std::string field, std::string what, std::string found = "", std::string expected = "",
                         std::string hint = "") {
  return make_error(ErrorKind::usage, "", std::move(what), std::move(found), std::move(expected), std::move(hint),
                    std::move(field));
}

inline Error usage_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                         std::string hint = "", std::string field = "") {
  return make_error(ErrorKind::usage, std::move(where), std::move(what), std::move(found), std::move(expected),
                    std::move(hint), std::move(field));
}

inline Error data_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                        std::string hint = "", std::string field = "") {
  return make_error(ErrorKind::data, std::move(where), std::move(what), std::move(found), std::move(expected),
                    std::move(hint), std::move(field));
}

}  // namespace dfcl::core
