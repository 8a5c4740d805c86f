// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/table_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dfcl/data/prediction_facts.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
}

std::string values_text(const data::ColumnSummary& column) {
  if (column.distinct == 0) return "";
  if (column.is_number && column.distinct > 6) return "";
  std::string text;
  for (const auto& [value, count] : column.frequent) text += (text.empty() ? "" : ", ") + value;
  return column.distinct > column.frequent.size() ? text + ", ..." : text;
}

std::string kind_text(const std::string& kind) {
  if (kind == "prediction") return "a prediction: revenue and cost of every unit under every arm";
  if (kind == "plan") return "a plan: the arm of every unit";
  if (kind == "truth") return "the truth of a simulated trial: expected revenue and cost under every arm";
  if (kind == "trial") return "a trial";
  return "a table; if it is a trial, `dfcl init` writes a study for it";
}

}  // namespace

std::string table_text(const data::TableSummary& summary, const std::string& path) {
  std::string text = fmt::format("{}: {}\n", printable(path), kind_text(summary.kind));
  text +=
      fmt::format("{}{}, {}, {} rows, {} columns\n\n", summary.format,
                  summary.num_files > 1 ? fmt::format(" in {} files", summary.num_files) : "", size_text(summary.bytes),
                  count_text(static_cast<std::size_t>(summary.rows)), summary.columns.size());
  TextTable table({{"column", Align::left},
                   {"type", Align::left},
                   {"missing"},
                   {"distinct"},
                   {"least"},
                   {"mean"},
                   {"most"},
                   {"values", Align::left}});
  for (const data::ColumnSummary& column : summary.columns) {
    const double share =
        summary.rows == 0 ? 0.0 : static_cast<double>(column.missing) / static_cast<double>(summary.rows);
    const bool numbers = column.is_number && column.missing < summary.rows;
    table.add_row({column.name, column.type, column.missing == 0 ? "0" : percent_text(share),
                   fmt::format("{}{}", column.distinct_is_at_least ? "> " : "", count_text(column.distinct)),
                   numbers ? number_text(column.low) : "", numbers ? number_text(column.mean) : "",
                   numbers ? number_text(column.high) : "", values_text(column)});
  }
  text += table.text();
  if (!summary.provenance.verb.empty()) {
    text += fmt::format("\nMade by dfcl {} {}", summary.provenance.version, summary.provenance.verb);
    for (const auto& [name, value] : summary.provenance.options) {
      if (name != data::kEvaluatedOption) text += fmt::format(", {} {}", name, core::printable_start(value));
    }
    text += "\n";
  }
  return text;
}

std::string table_json(const data::TableSummary& summary) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const data::ColumnSummary& column : summary.columns) {
    nlohmann::ordered_json entry = {{"name", column.name},
                                    {"type", column.type},
                                    {"missing", column.missing},
                                    {"distinct", column.distinct},
                                    {"distinct_is_at_least", column.distinct_is_at_least}};
    if (column.is_number && column.missing < summary.rows) {
      entry["low"] = column.low;
      entry["mean"] = column.mean;
      entry["high"] = column.high;
    }
    entry["frequent"] = nlohmann::ordered_json::array();
    for (const auto& [value, count] : column.frequent)
      entry["frequent"].push_back({{"value", value}, {"count", count}});
    columns.push_back(std::move(entry));
  }
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  for (const auto& [name, value] : summary.provenance.options) options[name] = value;
  const nlohmann::ordered_json json = {
      {"kind", summary.kind},
      {"format", summary.format},
      {"files", summary.num_files},
      {"bytes", summary.bytes},
      {"rows", summary.rows},
      {"columns", columns},
      {"made_by", {{"version", summary.provenance.version}, {"verb", summary.provenance.verb}, {"options", options}}}};
  // Text from files need not be UTF-8; replace what is not rather than fail.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report
