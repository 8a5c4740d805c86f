// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/planner_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"

namespace dfcl::serve {
namespace {

using Json = nlohmann::ordered_json;

// JSON that can stand inside a script element.
std::string script_safe(const Json& json) {
  std::string safe;
  for (const char letter : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (letter == '<' || letter == '>' || letter == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      safe += letter;
    }
  }
  return safe;
}

}  // namespace

std::string planner_page(const PlannerFacts& facts, bool has_report) {
  Json json = {{"source", std::filesystem::path(facts.source).filename().string()},
               {"arms", facts.arms},
               {"control", facts.control},
               {"units", facts.num_units},
               {"is_index", facts.is_index},
               {"control_revenue", facts.control_revenue},
               {"control_cost", facts.control_cost},
               {"most_spend", facts.most_spend},
               {"segments", facts.segments},
               {"units_per_segment", facts.units_per_segment},
               {"has_eligibility", facts.has_eligibility},
               {"has_second", facts.has_second},
               {"most_second", facts.most_second},
               {"worth", facts.worth ? Json(*facts.worth) : Json()},
               {"currency", facts.words.currency},
               {"unit", facts.words.unit},
               {"unit_plural", data::plural_word(facts.words.unit)},
               {"revenue_is_money", facts.words.revenue_is_money},
               {"warnings", facts.warnings},
               {"has_report", has_report}};
  const std::string_view page = planner_template();
  constexpr std::string_view kPlace = "%FACTS%";
  const std::size_t found = page.find(kPlace);
  if (found == std::string_view::npos) throw core::Error({.what = "the page has no place for its facts"});
  return std::string(page.substr(0, found)) + script_safe(json) + std::string(page.substr(found + kPlace.size()));
}

std::string page_policy(std::string_view page) {
  constexpr std::string_view kBegin = "content=\"default-src";
  const std::size_t begin = page.find(kBegin);
  if (begin == std::string_view::npos) throw core::Error({.what = "the page has no policy"});
  const std::size_t from = begin + std::string_view("content=\"").size();
  return std::string(page.substr(from, page.find('"', from) - from)) + "; frame-ancestors 'none'";
}

}  // namespace dfcl::serve
