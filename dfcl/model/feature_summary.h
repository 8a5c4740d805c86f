// SPDX-License-Identifier: Apache-2.0
//
// What the features of the training units looked like, in a few numbers each, so that prediction can tell when other
// units come: how many fell between the quantiles of a number, how many had each of the commonest levels of a category,
// how many were missing. Counts of units in any order, cut in any way, add up to the same. Some 400 bytes a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/data/ids.h"

namespace dfcl::model {

inline constexpr std::size_t kSummaryBins = 20;    // of a number: between its quantiles
inline constexpr std::size_t kSummaryLevels = 30;  // of a category: the commonest

struct FeatureSummary {
  std::vector<float> cuts;            // numbers: rising; bin k holds values above cuts[k - 1], up to cuts[k]
  std::vector<std::uint32_t> levels;  // categories: codes of the commonest levels
  // Units per bin; of a category: the pool of rare and unseen levels, each of `levels`, all other levels.
  std::vector<std::uint64_t> counts;
  std::uint64_t missing = 0;
  // Numbers: the middle one of those above the last cut; none in models of earlier versions.
  std::optional<float> last = {};
  bool operator==(const FeatureSummary&) const = default;
};

// Of these units, or of some 130,000 of them that their ids choose. Features of a trial in any order of its rows have
// the same summaries.
std::vector<FeatureSummary> summarise_features(const data::Features& features, const data::Ids& ids,
                                               std::span<const std::uint32_t> rows, core::RunContext& context);

// Whether a summary from a file can be used for the column.
bool is_good(const FeatureSummary& summary, const data::FeatureColumn& column);

// How many units fall where, by the cuts and levels of summaries, which must outlive this.
class FeatureCounts {
 public:
  explicit FeatureCounts(const std::vector<FeatureSummary>& summaries);
  void add(core::MatrixView<const float> features);  // units x features
  void add(const FeatureCounts& other);

  std::uint64_t num_units() const { return num_units_; }
  const std::vector<std::uint64_t>& counts(std::size_t feature) const { return counts_[feature]; }
  std::uint64_t missing(std::size_t feature) const { return missing_[feature]; }

 private:
  const std::vector<FeatureSummary>* summaries_;
  std::vector<std::vector<std::uint64_t>> counts_;  // per feature
  std::vector<std::uint64_t> missing_;
  std::uint64_t num_units_ = 0;
};

// One figure of a feature, in training and now.
struct DriftFigure {
  double training = 0.0;
  double now = 0.0;
  double limit = 0.0;  // of the change that counts as drift, sampling noise included
  bool drifts() const { return now - training > limit || training - now > limit; }
};
struct FeatureDrift {
  std::string feature;
  // Population stability index: sum of (now - then) ln(now / then) over the shares of the bins; 0 in training.
  DriftFigure stability;
  DriftFigure missing;  // share of units
  DriftFigure unknown;  // categories: share of the values in the pool of rare and unseen levels
  bool drifts() const { return stability.drifts() || missing.drifts() || unknown.drifts(); }
};
std::vector<FeatureDrift> feature_drift(const std::vector<data::FeatureColumn>& columns,
                                        const std::vector<FeatureSummary>& summaries, const FeatureCounts& now);

// One line that names the worst; empty where nothing drifts.
std::string drift_warning(const std::vector<FeatureDrift>& drift);

}  // namespace dfcl::model
