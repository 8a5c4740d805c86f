// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/fitted_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/printable.h"
#include "dfcl/data/splits.h"
#include "dfcl/io/tables/batch_reader.h"

namespace dfcl::verbs {
namespace {

void refuse_or_warn(const std::string& what, const std::string& path, TrainingRows training_rows,
                    core::RunContext& context) {
  if (training_rows == TrainingRows::refuse) {
    throw core::Error(
        {.kind = core::ErrorKind::data,
         .what = what,
         .where = path,
         .expected = "rows it has not seen",
         .hint = fmt::format("{} with the split it was trained with; {} goes on regardless",
                             core::field_name("split", "test"), core::field_name("allow_training_rows"))});
  }
  context.warn(fmt::format("{}: {}; its figures flatter it", path, what));
}

// The first of these that is a column.
std::optional<std::string> first_column(const std::vector<std::string>& columns,
                                        const std::vector<std::optional<std::string>>& wanted) {
  for (const std::optional<std::string>& name : wanted) {
    if (name && std::find(columns.begin(), columns.end(), *name) != columns.end()) return name;
  }
  return std::nullopt;
}

std::uint64_t with_time(std::uint64_t key, std::string_view time) {
  return core::combine_hashes(key, core::hash_text(time));
}

}  // namespace

void look_for_training_rows(const model::TrainedUnits& trained, const char* whose, const std::string& path,
                            const JudgedTrial& judged, TrainingRows training_rows, core::RunContext& context) {
  if (training_rows == TrainingRows::allow) return;
  std::vector<std::uint8_t> is_chosen(judged.trial->num_units());
  for (const std::size_t row : judged.rows.trial_row) is_chosen[row] = 1;
  const model::Overlap overlap = model::overlap_with(trained, *judged.trial, is_chosen);
  if (overlap.num_trained == 0) return;
  refuse_or_warn(fmt::format("{} was trained or chosen on {:.3g} % of these rows ({} of {} compared)", whose,
                             100.0 * overlap.share(), overlap.num_trained, overlap.num_compared),
                 path, training_rows, context);
}

FittedRows::FittedRows(const std::string& path, const JudgedTrial& judged, core::RunContext& context) : path_(path) {
  const std::vector<std::string> columns = io::column_names(path);
  const data::Study::Columns& roles = judged.study.columns;
  const auto require = [&](const char* name, const std::optional<std::string>& own) {
    const std::optional<std::string> found = first_column(columns, {own, name});
    if (found) return *found;
    throw core::field_error("fitted_on", fmt::format("{} has no column '{}'", core::printable(path), name),
                            fmt::format("{}", core::printable_start(fmt::format("{}", fmt::join(columns, ", ")), 200)),
                            own && *own != name ? fmt::format("'{}' or '{}'", *own, name) : fmt::format("'{}'", name));
  };
  std::vector<std::string> names = {require("id", roles.id)};
  const bool has_time = judged.trial->has_time();
  if (has_time) names.push_back(require("time", roles.time));
  const std::optional<std::string> split = first_column(columns, {"split"});
  if (split) names.push_back(*split);
  const auto source = io::open_batches(path, names, std::vector<data::ColumnType>(names.size(), data::ColumnType::text),
                                       context, names.front());
  data::Batch batch;
  while (source->next(batch)) {
    const auto text = [&](std::size_t column, std::size_t row) {
      return std::get<data::TextColumn>(batch.columns[column])[row];
    };
    for (std::size_t row = 0; row < batch.num_rows; ++row) {
      if (split && text(names.size() - 1, row) == data::to_text(data::Split::test)) continue;
      const std::uint64_t key = core::hash_text(text(0, row));
      keys_.push_back(has_time ? with_time(key, text(1, row)) : key);
    }
  }
  std::sort(keys_.begin(), keys_.end());
}

void FittedRows::look_for(const std::string& predictions, const JudgedTrial& judged, TrainingRows training_rows,
                          core::RunContext& context) const {
  const data::Trial& trial = *judged.trial;
  std::size_t num_fitted = 0;
  for (const std::size_t row : judged.rows.trial_row) {
    std::uint64_t key = core::hash_text(trial.ids.text(row));
    if (trial.has_time()) key = with_time(key, trial.times[trial.time[row]]);
    if (std::binary_search(keys_.begin(), keys_.end(), key)) ++num_fitted;
  }
  if (num_fitted == 0) return;
  refuse_or_warn(fmt::format("these predictions were fitted on {:.3g} % of these rows ({} of {}), by '{}'",
                             100.0 * static_cast<double>(num_fitted) / static_cast<double>(judged.rows.size()),
                             num_fitted, judged.rows.size(), path_),
                 predictions, training_rows, context);
}

}  // namespace dfcl::verbs
