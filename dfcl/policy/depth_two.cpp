// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/depth_two.h"

#include <algorithm>

namespace dfcl::policy {
namespace {

// The best that one side of the root can do.
struct Side {
  double value = 0.0;
  std::optional<Split> split;
};

struct RootSplit {
  std::size_t order = 0;
  std::size_t length = 0;
  double yes_units = 0.0;
  double no_units = 0.0;
  std::vector<Side> yes;  // per multiplier
  std::vector<Side> no;
};

// groups of the first column x groups of the second x sums.
std::vector<double> pair_table(const SplitColumn& first, const SplitColumn& second,
                               core::MatrixView<const double> stats) {
  const std::size_t width = stats.cols;
  std::vector<double> table(first.num_groups * second.num_groups * width);
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    double* const to = table.data() + (first.group[unit] * second.num_groups + second.group[unit]) * width;
    const double* const from = stats.data + unit * width;
    for (std::size_t i = 0; i < width; ++i) to[i] += from[i];
  }
  return table;
}

// The best split of one side by one column at one price. groups: its sums by group of the column.
class SideSearch {
 public:
  SideSearch(const ArmSums& arms, double least_units) : arms_(arms), least_(least_units) {}

  void look(const std::vector<double>& groups, const SplitColumn& column, std::size_t place, double multiplier,
            Side& best) {
    const std::size_t treated = arms_.num_treated;
    const std::size_t width = arms_.width();
    scores_.resize(column.num_groups * treated);
    total_.assign(treated, 0.0);
    double all_units = 0.0;
    for (std::size_t group = 0; group < column.num_groups; ++group) {
      const double* const sums = groups.data() + group * width;
      for (std::size_t arm = 0; arm < treated; ++arm) {
        const double score = sums[arm] - multiplier * sums[treated + arm];
        scores_[group * treated + arm] = score;
        total_[arm] += score;
      }
      all_units += sums[width - 1];
    }
    if (all_units < 2.0 * least_) return;
    for (std::size_t order = 0; order < column.orders.size(); ++order) {
      before_.assign(treated, 0.0);
      double units = 0.0;
      for (std::size_t length = 1; length <= column.orders[order].most_taken; ++length) {
        const std::size_t group = column.orders[order].groups[length - 1];
        double in = 0.0;
        double out = 0.0;
        for (std::size_t arm = 0; arm < treated; ++arm) {
          before_[arm] += scores_[group * treated + arm];
          in = std::max(in, before_[arm]);
          out = std::max(out, total_[arm] - before_[arm]);
        }
        units += groups[group * width + width - 1];
        if (units < least_ || all_units - units < least_ || !(in + out > best.value)) continue;
        best = {in + out, Split{place, order, length}};
      }
    }
  }

 private:
  const ArmSums& arms_;
  double least_;
  std::vector<double> scores_, total_, before_;
};

// All splits of one column as the root, without their sides.
std::vector<RootSplit> root_splits(const SplitColumn& column, core::MatrixView<const double> stats, const ArmSums& arms,
                                   std::span<const double> multipliers, double least_units) {
  const std::size_t width = arms.width();
  std::vector<double> groups(column.num_groups * width);
  std::vector<double> all(width);
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    for (std::size_t i = 0; i < width; ++i) groups[column.group[unit] * width + i] += stats(unit, i);
  }
  for (std::size_t group = 0; group < column.num_groups; ++group) {
    for (std::size_t i = 0; i < width; ++i) all[i] += groups[group * width + i];
  }
  std::vector<RootSplit> splits;
  for (std::size_t order = 0; order < column.orders.size(); ++order) {
    std::vector<double> yes(width);
    std::vector<double> no(width);
    for (std::size_t length = 1; length <= column.orders[order].most_taken; ++length) {
      for (std::size_t i = 0; i < width; ++i) {
        yes[i] += groups[column.orders[order].groups[length - 1] * width + i];
        no[i] = all[i] - yes[i];
      }
      RootSplit split{order, length, yes[width - 1], no[width - 1], {}, {}};
      if (split.yes_units < least_units || split.no_units < least_units) continue;
      for (const double multiplier : multipliers) {
        split.yes.push_back({arms.best(yes.data(), multiplier), std::nullopt});
        split.no.push_back({arms.best(no.data(), multiplier), std::nullopt});
      }
      splits.push_back(std::move(split));
    }
  }
  return splits;
}

// Looks at every split of `second` on both sides of every root split.
void look_at_pair(const SplitColumn& first, const SplitColumn& second, std::size_t place,
                  core::MatrixView<const double> stats, std::span<const double> multipliers, SideSearch& search,
                  std::vector<RootSplit>& splits) {
  const std::vector<double> table = pair_table(first, second, stats);
  const std::size_t row = second.num_groups * stats.cols;
  std::vector<double> all(row);
  for (std::size_t group = 0; group < first.num_groups; ++group) {
    for (std::size_t i = 0; i < row; ++i) all[i] += table[group * row + i];
  }
  std::vector<double> yes;
  std::vector<double> no(row);
  std::size_t order = first.orders.size();
  std::size_t taken = 0;
  for (RootSplit& split : splits) {
    if (split.order != order) {
      order = split.order;
      taken = 0;
      yes.assign(row, 0.0);
    }
    for (; taken < split.length; ++taken) {
      const double* const group = table.data() + first.orders[order].groups[taken] * row;
      for (std::size_t i = 0; i < row; ++i) yes[i] += group[i];
    }
    for (std::size_t i = 0; i < row; ++i) no[i] = all[i] - yes[i];
    for (std::size_t price = 0; price < multipliers.size(); ++price) {
      search.look(yes, second, place, multipliers[price], split.yes[price]);
      search.look(no, second, place, multipliers[price], split.no[price]);
    }
  }
}

}  // namespace

double ArmSums::best(const double* sums, double multiplier) const {
  double best = 0.0;
  for (std::size_t arm = 0; arm < num_treated; ++arm)
    best = std::max(best, sums[arm] - multiplier * sums[num_treated + arm]);
  return best;
}

std::optional<std::size_t> ArmSums::best_arm(const double* sums, double multiplier) const {
  std::optional<std::size_t> arm;
  double best = 0.0;
  for (std::size_t one = 0; one < num_treated; ++one) {
    const double score = sums[one] - multiplier * sums[num_treated + one];
    if (!(score > best)) continue;
    best = score;
    arm = one;
  }
  return arm;
}

std::vector<DepthTwo> best_of_depth_two(const SplitColumns& columns, core::MatrixView<const double> stats,
                                        const ArmSums& arms, std::span<const double> multipliers,
                                        std::size_t least_units, core::RunContext& context) {
  const auto least = static_cast<double>(least_units);
  const std::size_t num_columns = columns.columns.size();
  std::vector<std::vector<DepthTwo>> by_root(num_columns);
  context.pool.run(num_columns, [&](std::size_t root) {
    const SplitColumn& first = columns.columns[root];
    std::vector<RootSplit> splits = root_splits(first, stats, arms, multipliers, least);
    SideSearch search(arms, least);
    for (std::size_t place = 0; place < num_columns; ++place) {
      context.check_cancelled();
      look_at_pair(first, columns.columns[place], place, stats, multipliers, search, splits);
    }
    by_root[root].resize(multipliers.size());
    for (const RootSplit& split : splits) {
      for (std::size_t price = 0; price < multipliers.size(); ++price) {
        DepthTwo& best = by_root[root][price];
        const double value = split.yes[price].value + split.no[price].value;
        if (best.root && !(value > best.value)) continue;
        best = {value, Split{root, split.order, split.length}, split.yes[price].split, split.no[price].split};
      }
    }
  });
  std::vector<double> all(arms.width());
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += stats(unit, i);
  }
  std::vector<DepthTwo> found;
  for (std::size_t price = 0; price < multipliers.size(); ++price) {
    DepthTwo best{arms.best(all.data(), multipliers[price]), {}, {}, {}};
    for (std::size_t root = 0; root < num_columns; ++root) {
      const DepthTwo& one = by_root[root][price];
      if (one.root && one.value > best.value) best = one;
    }
    found.push_back(best);
  }
  return found;
}

}  // namespace dfcl::policy
