// SPDX-License-Identifier: Apache-2.0
//
// Joins the parts of a trial in file order and settles what needs all of them: arms, levels, clusters, times, splits.
// Internal to io. Results do not depend on how the file was cut into parts.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/io/trial/trial_plan.h"
#include "dfcl/io/trial/trial_tile.h"

namespace dfcl::io {

// Labels of all parts so far, coded in order of first appearance.
class LabelTable {
 public:
  std::uint32_t code(const std::string& label);
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  std::unordered_map<std::string, std::uint32_t> codes_;
  std::vector<std::string> labels_;
};

class TrialBuilder {
 public:
  // folder: each column but the ids is kept there in a file of its name ("features", "revenue", ...); "": in a file
  // without a name in the scratch folder, as whatever else holds a number for each unit; both "": all on the heap.
  // is_part: of a trial on many machines, of which nothing is asked that only the whole can say; [arms] order names all
  // arms. num_files: whose rows come.
  TrialBuilder(const data::Study& study, TrialPlan plan, const std::string& folder, const std::string& scratch_folder,
               std::size_t num_files, bool is_part = false);

  // So many rows come next, less those that are left out: room for their features, which make_tile may fill before they
  // are appended, each in its place: the first row from here on is row 0.
  core::MatrixView<float> make_room(std::size_t num_rows);
  // A tile without a bad row, made by any thread, in the order of the file. locate(row) names the place of a row of
  // this part, for errors.
  void append(TrialTile tile, const std::function<std::string(std::int64_t)>& locate);
  data::Trial finish(core::RunContext& context);

 private:
  void append_arms(const TrialTile& tile, const std::function<std::string(std::int64_t)>& locate);
  void append_splits(const TrialTile& tile, const std::function<std::string(std::int64_t)>& locate);
  void append_features(TrialTile& tile);
  void append_ids(TrialTile& tile);
  void settle_arms();
  void settle_times();
  void settle_clusters();
  void settle_splits(core::RunContext& context);
  void settle_levels(core::RunContext& context);
  void winsorize();
  void settle_outcomes();
  void settle_weights();
  void check_rows() const;

  const data::Study& study_;
  TrialPlan plan_;
  bool is_part_;
  data::Trial trial_;
  LabelTable arms_;
  LabelTable times_;
  std::vector<LabelTable> levels_;  // one for each feature
  core::Column<std::uint64_t> cluster_hash_;
  core::Column<std::uint64_t> unit_hash_;
  std::int64_t rows_seen_ = 0;
  std::int64_t rows_without_outcome_ = 0;
  std::int64_t rows_of_no_weight_ = 0;
};

}  // namespace dfcl::io
