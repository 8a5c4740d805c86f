// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/test_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/printable.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/io/trial/trial_reader.h"

namespace dfcl::verbs {
namespace {

std::string arms_text(const data::Arms& arms) {
  return fmt::format("arms {}, control {}", fmt::join(arms.labels, ", "), arms.labels[arms.control]);
}

// More columns do no harm; levels of categories may differ.
void require_same_features(const data::Trial& test, const data::Trial& own, const std::string& path) {
  for (const data::FeatureColumn& column : own.features.columns) {
    const auto& columns = test.features.columns;
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const data::FeatureColumn& other) { return other.name == column.name; });
    const auto kind = [](const data::FeatureColumn& one) { return one.categorical ? "categories" : "numbers"; };
    if (found == columns.end()) {
      throw core::data_error(path, fmt::format("feature '{}' of the trial is missing", core::printable(column.name)),
                             "", "the columns of the trial", "", "test");
    }
    if (found->categorical != column.categorical) {
      throw core::data_error(
          path, fmt::format("feature '{}' is another than in the trial", core::printable(column.name)), kind(*found),
          kind(column), "[columns] categorical says which numbers are categories", "test");
    }
  }
}

void require_other_units(const data::Trial& test, const data::Trial& own, const std::string& path,
                         const std::function<void(const std::string&)>& on_note) {
  const auto refuse = [&](const std::string& what) {
    return core::data_error(path, what, "", "units that neither train nor validate",
                            "a unit is its id and, where the study has one, its time", "test");
  };
  if (test.ids.are_row_numbers() || own.ids.are_row_numbers()) {
    if (on_note) on_note("units have no ids: cannot check whether test rows are among the rows that train or validate");
    return;
  }
  std::vector<std::uint64_t> keys;
  for (std::size_t row = 0; row < own.num_units(); ++row) {
    if (own.split[row] != data::Split::test) keys.push_back(data::unit_key(own, row));
  }
  std::sort(keys.begin(), keys.end());
  std::size_t num_known = 0;
  for (std::size_t row = 0; row < test.num_units(); ++row)
    num_known += std::binary_search(keys.begin(), keys.end(), data::unit_key(test, row)) ? 1 : 0;
  if (num_known > 0)
    throw refuse(
        fmt::format("{} of {} test rows are among the rows that train or validate", num_known, test.num_units()));
}

}  // namespace

data::Trial read_test_trial(const data::Study& study, const std::string& path, const std::string& own_path,
                            const data::Trial& own, const std::function<void(const std::string&)>& on_note,
                            core::RunContext& context) {
  std::error_code absent;
  if (std::filesystem::equivalent(path, own_path, absent))
    throw core::data_error(path, "the test file is the study's own trial", "", "other units", "", "test");
  data::Study meant = study;
  meant.folder.clear();
  meant.data.trial = path;
  meant.split = {.by = "hash", .train = 1.0, .validation = 0.0, .test = 0.0};  // levels are counted on training rows
  data::Trial test = io::read_trial(meant, context);
  if (test.arms != own.arms) {
    throw core::data_error(path, "the arms are not those of the trial", arms_text(test.arms), arms_text(own.arms), "",
                           "test");
  }
  require_same_features(test, own, path);
  require_other_units(test, own, path, on_note);
  std::fill(test.split.begin(), test.split.end(), data::Split::test);
  return test;
}

}  // namespace dfcl::verbs
