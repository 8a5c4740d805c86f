// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/table_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dfcl/data/prediction_facts.h"
#include "dfcl/report/text/document.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

constexpr std::size_t kLongOption = 32;  // letters; longer ones are for programs

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

Table columns_table(const data::TableSummary& summary) {
  using C = data::ColumnSummary;
  const auto of_number = [&](double C::*figure) {
    return [&summary, figure](const C& column) {
      return column.is_number && column.missing < summary.rows ? number_text(column.*figure) : std::string();
    };
  };
  return table_of<C>(
      summary.columns,
      {{"column", [](const C& column) { return column.name; }},
       {"type", [](const C& column) { return column.type; }},
       {"missing",
        [&](const C& column) {
          const bool none = column.missing == 0 || summary.rows == 0;
          return none ? "0" : percent_text(static_cast<double>(column.missing) / static_cast<double>(summary.rows));
        }},
       {"distinct",
        [](const C& column) {
          return fmt::format("{}{}", column.distinct_is_at_least ? "> " : "", count_text(column.distinct));
        }},
       {"least", of_number(&C::low)},
       {"mean", of_number(&C::mean)},
       {"most", of_number(&C::high)},
       {"values", values_text}},
      2);
}

}  // namespace

std::string table_text(const data::TableSummary& summary, const std::string& path, Length length) {
  Document document = {
      Paragraph{fmt::format("{}: {}", path, kind_text(summary.kind))},
      Paragraph{fmt::format("{}{}, {}, {} rows, {} columns", summary.format,
                            summary.num_files > 1 ? fmt::format(" in {} files", summary.num_files) : "",
                            size_text(summary.bytes), count_text(static_cast<std::size_t>(summary.rows)),
                            summary.columns.size())}};
  if (!summary.provenance.verb.empty()) {
    std::string made = fmt::format("Made by dfcl {} {}", summary.provenance.version, summary.provenance.verb);
    for (const auto& [name, value] : summary.provenance.options) {
      const bool is_long = name == data::kEvaluatedOption || (length == Length::brief && value.size() > kLongOption);
      if (!is_long) made += fmt::format(", {} {}", name, core::printable_start(value));
    }
    document.push_back(Paragraph{made});
  }
  document.push_back(columns_table(summary));
  return length == Length::brief ? screen_text(document) : document_text(document);
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
