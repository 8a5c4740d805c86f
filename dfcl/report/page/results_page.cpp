// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/page/results_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/markup.h"
#include "dfcl/report/page/page_template.h"
#include "dfcl/report/results/results_document.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

// So that the page stays small whatever the study: the largest values of a segment column, the least balanced features.
constexpr std::size_t kMostSegmentValues = 40;
constexpr std::size_t kMostFeatures = 30;

// Seven digits are more than the page shows.
void shorten_numbers(Json& value) {
  if (value.is_number_float()) {
    const std::string text = fmt::format("{:.7g}", value.get<double>());
    double shorter = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), shorter);
    value = shorter;
  } else if (value.is_structured()) {
    for (Json& part : value) shorten_numbers(part);
  }
}

// Keeps the `most` elements for which `size` is largest, in their order; returns how many went.
template <typename Size>
std::size_t keep_largest(Json& list, std::size_t most, const Size& size) {
  if (!list.is_array() || list.size() <= most) return 0;
  std::vector<std::size_t> order(list.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(list[a]) > size(list[b]); });
  order.resize(most);
  std::sort(order.begin(), order.end());
  Json kept = Json::array();
  for (const std::size_t i : order) kept.push_back(list[i]);
  const std::size_t left_out = list.size() - most;
  list = std::move(kept);
  return left_out;
}

double size_at(const Json& object, const char* key) {
  const double size = std::abs(number_at(object, key));
  return std::isfinite(size) ? size : -1.0;
}

void limit_lists(Json& results) {
  if (Json* check = results.contains("check") && results["check"].is_object() ? &results["check"] : nullptr) {
    if (check->contains("balance") && (*check)["balance"].is_object() && (*check)["balance"].contains("features")) {
      keep_largest((*check)["balance"]["features"], kMostFeatures,
                   [](const Json& one) { return size_at(one, "difference"); });
    }
  }
  if (!results.contains("models") || !results["models"].is_array()) return;
  for (Json& model : results["models"]) {
    if (!model.is_object() || !model.contains("segments") || !model["segments"].is_array()) continue;
    for (Json& segment : model["segments"]) {
      if (!segment.is_object() || !segment.contains("values")) continue;
      const std::size_t left_out =
          keep_largest(segment["values"], kMostSegmentValues, [](const Json& one) { return size_at(one, "units"); });
      if (left_out > 0) segment["values_left_out"] = left_out;
    }
  }
}

// JSON that can stand inside a script element: no tag can begin in it, and no line ends that old scripts mistake.
std::string script_safe(const Json& results) {
  std::string safe;
  for (const char letter : results.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (letter == '<' || letter == '>' || letter == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      safe += letter;
    }
  }
  return safe;
}

// The template up to a place, which goes with it.
std::string_view take_until(std::string_view& rest, std::string_view place) {
  const std::size_t found = rest.find(place);
  if (found == std::string_view::npos) throw core::Error({.what = fmt::format("the page has no {}", place)});
  const std::string_view before = rest.substr(0, found);
  rest.remove_prefix(found + place.size());
  return before;
}

}  // namespace

std::string results_page(Json results) {
  const std::string text = document_text(answer_document(results));
  limit_lists(results);
  shorten_numbers(results);
  const std::string title = text_at(at(results, "report"), "title");
  std::string_view rest = page_template();
  std::string page;
  page += take_until(rest, "%TITLE%");
  page += core::markup_safe(printable(title.empty() ? "Results" : title));
  page += take_until(rest, "%TEXT%");
  page += core::markup_safe(text);
  page += take_until(rest, "%RESULTS%");
  page += script_safe(results);
  page += rest;
  return page;
}

}  // namespace dfcl::report
