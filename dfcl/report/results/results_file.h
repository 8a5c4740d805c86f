// SPDX-License-Identifier: Apache-2.0
//
// A results file as checked JSON: what comes back holds the keys that the page gets, each with its type or null.
// Internal to report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "dfcl/core/interval.h"

namespace dfcl::report {

using Json = nlohmann::json;

// Throws Error of kind data: not JSON, another format or version, a key of the wrong type or
// with an unknown word.
Json read_results(std::string_view text, const std::string& where);

// What stands under a key; null where the key is absent or `object` is no object.
const Json& at(const Json& object, const char* key);
const Json& at(const Json& list, std::size_t place);

// NaN, "", false where there is no such value.
double number_at(const Json& object, const char* key);
std::string text_at(const Json& object, const char* key);
bool flag_at(const Json& object, const char* key);
core::Interval interval_at(const Json& object, const char* key);

}  // namespace dfcl::report
