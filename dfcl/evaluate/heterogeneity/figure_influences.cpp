// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/figure_influences.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/estimators/projection.h"

namespace dfcl::evaluate {
namespace {

constexpr double kMostWork = 2e9;            // multiplications of scores with slopes
constexpr std::size_t kLeastSample = 2'000;  // groups

constexpr std::size_t kParts = 16;  // of the groups, whatever the number of threads

// Rows in the order of their clusters, with where each cluster begins; nothing where rows are their own clusters.
struct GroupedRows {
  explicit GroupedRows(const TrialRows& rows) {
    if (rows.cluster.empty()) return;
    row.resize(rows.size());
    begin.resize(rows.num_groups() + 1);
    for (const std::uint32_t cluster : rows.cluster) ++begin[cluster + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) row[next[rows.cluster[i]]++] = static_cast<std::uint32_t>(i);
  }
  std::vector<std::uint32_t> row;
  std::vector<std::uint32_t> begin;  // per group, and the end
};

// Figures x arms x (1 + columns).
struct Products {
  std::vector<double> plain;
  std::vector<double> weighted;  // by sample weight; empty where rows have none
};

// Influences of one group, by figure.
class OpenGroup {
 public:
  explicit OpenGroup(std::size_t num_figures) : influence_(num_figures), is_touched_(num_figures) {}
  void add(std::size_t figure, double influence) {
    if (!is_touched_[figure]) {
      is_touched_[figure] = true;
      touched_.push_back(figure);
    }
    influence_[figure] += influence;
  }
  template <class Body>
  void for_each(Body&& body) const {
    for (const std::size_t figure : touched_) body(figure, influence_[figure]);
  }
  void clear() {
    for (const std::size_t figure : touched_) {
      influence_[figure] = 0.0;
      is_touched_[figure] = false;
    }
    touched_.clear();
  }

 private:
  std::vector<double> influence_;
  std::vector<bool> is_touched_;
  std::vector<std::size_t> touched_;
};

class FigureProjection {
 public:
  FigureProjection(const TrialRows& rows, std::size_t num_figures, const RowInfluences& influences,
                   core::RunContext& context)
      : rows_(rows), num_figures_(num_figures), influences_(influences), context_(context), projection_(rows) {
    for (std::uint32_t draw = 0; draw < projection_.num_draws(); ++draw) {
      if (draw == 0 || projection_.group(draw) != projection_.group(draw - 1)) begin_.push_back(draw);
    }
    begin_.push_back(static_cast<std::uint32_t>(projection_.num_draws()));
  }

  void run(FigureCovariance& covariance) const {
    const std::size_t size = projection_.size();
    if (!projection_.is_possible() || num_figures_ > kMostProducts / size) return;
    Products products = sum_products();
    std::vector<double> slopes = products.plain;
    for (std::size_t figure = 0; figure < num_figures_; ++figure)
      projection_.divide({slopes.data() + figure * size, size});
    if (products.weighted.empty()) products.weighted = std::move(products.plain);
    const auto cross = [&](std::size_t a, std::size_t b) {
      const double* const slope = slopes.data() + a * size;
      return std::inner_product(slope, slope + size, products.weighted.data() + b * size, 0.0);
    };
    const bool all_pairs = covariance.is_kept();
    const std::vector<double> squares = sum_squares(slopes, all_pairs);
    const double f = projection_.factor();
    for (std::size_t a = 0; a < num_figures_; ++a) {
      for (std::size_t b = all_pairs ? 0 : a; b <= a; ++b)
        covariance.take_off(a, b,
                            f * (cross(a, b) + cross(b, a)) - f * f * squares[all_pairs ? a * num_figures_ + b : a]);
    }
    covariance.widen(projection_.freedom());
  }

 private:
  std::size_t num_groups() const { return begin_.size() - 1; }

  // As many partial sums as fit, whatever the number of threads.
  std::size_t chunk_size(std::size_t count, std::size_t numbers) const {
    const std::size_t parts = std::clamp<std::size_t>(kMostProducts / std::max<std::size_t>(1, numbers), 1, 64);
    return std::max<std::size_t>(256, (count + parts - 1) / parts);
  }

  void add_groups(std::size_t first, std::size_t last, Products& products) const {
    ScoreProjection::Draw found = projection_.new_draw();
    OpenGroup open(num_figures_);
    const AddInfluence add = [&](std::size_t figure, double influence) { open.add(figure, influence); };
    for (std::size_t group = first; group < last; ++group) {
      const std::size_t end = rows_.draws.begin[begin_[group + 1]];
      for (std::size_t place = rows_.draws.begin[begin_[group]]; place < end; ++place)
        influences_(rows_.draws.row[place], add);
      for (std::size_t draw = begin_[group]; draw < begin_[group + 1]; ++draw) {
        projection_.look_at(draw, found);
        open.for_each([&](std::size_t figure, double influence) {
          const std::size_t at = figure * projection_.size();
          projection_.add(found, found.surplus, influence, products.plain.data() + at);
          if (!products.weighted.empty())
            projection_.add(found, found.weighted, influence, products.weighted.data() + at);
        });
      }
      open.clear();
    }
  }

  Products sum_products() const {
    const std::size_t size = num_figures_ * projection_.size();
    const Products empty{std::vector<double>(size), std::vector<double>(rows_.sample.empty() ? 0 : size)};
    return core::sum_chunks(
        context_, num_groups(), chunk_size(num_groups(), size), empty,
        [&](std::size_t begin, std::size_t end) {
          Products part = empty;
          add_groups(begin, end, part);
          return part;
        },
        [](Products& total, const Products& part) {
          for (std::size_t i = 0; i < total.plain.size(); ++i) total.plain[i] += part.plain[i];
          for (std::size_t i = 0; i < total.weighted.size(); ++i) total.weighted[i] += part.weighted[i];
        });
  }

  // Over groups, of the products of what two slopes make of a group's score: figures x figures (lower triangle), or one
  // for each figure.
  std::vector<double> sum_squares(const std::vector<double>& slopes, bool all_pairs) const {
    const double affordable = kMostWork / static_cast<double>(slopes.size());
    const std::size_t count = std::min(num_groups(), std::max(kLeastSample, static_cast<std::size_t>(affordable)));
    const std::size_t size = all_pairs ? num_figures_ * num_figures_ : num_figures_;
    const double scale = static_cast<double>(num_groups()) / static_cast<double>(count);
    std::vector<double> sums = core::sum_chunks(
        context_, count, chunk_size(count, size), std::vector<double>(size),
        [&](std::size_t begin, std::size_t end) {
          std::vector<double> part(size);
          std::vector<double> score(num_figures_);
          ScoreProjection::Draw found = projection_.new_draw();
          for (std::size_t i = begin; i < end; ++i) {
            const std::size_t group = num_groups() * i / count;
            std::fill(score.begin(), score.end(), 0.0);
            for (std::size_t draw = begin_[group]; draw < begin_[group + 1]; ++draw) {
              projection_.look_at(draw, found);
              for (std::size_t figure = 0; figure < num_figures_; ++figure)
                score[figure] += projection_.score(found, slopes.data() + figure * projection_.size());
            }
            for (std::size_t a = 0; a < num_figures_; ++a) {
              if (!all_pairs) part[a] += score[a] * score[a];
              for (std::size_t b = 0; all_pairs && b <= a; ++b) part[a * num_figures_ + b] += score[a] * score[b];
            }
          }
          return part;
        },
        [](std::vector<double>& total, const std::vector<double>& part) {
          for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
        });
    for (double& sum : sums) sum *= scale;
    return sums;
  }

  const TrialRows& rows_;
  std::size_t num_figures_;
  const RowInfluences& influences_;
  core::RunContext& context_;
  ScoreProjection projection_;
  std::vector<std::uint32_t> begin_;  // per group its first draw, and the end
};

}  // namespace

FigureCovariance covariance_of(const TrialRows& rows, std::size_t num_figures, const RowInfluences& influences,
                               core::RunContext& context) {
  const GroupedRows grouped(rows);
  const std::size_t num_groups = rows.num_groups();
  const auto part_of = [&](std::size_t first, std::size_t last) {
    FigureCovariance part(num_figures);
    const AddInfluence add = [&](std::size_t figure, double influence) { part.add(figure, influence); };
    for (std::size_t group = first; group < last; ++group) {
      if (grouped.begin.empty()) {
        influences(group, add);
      } else {
        for (std::size_t i = grouped.begin[group]; i < grouped.begin[group + 1]; ++i) influences(grouped.row[i], add);
      }
      part.close_group();
    }
    return part;
  };
  FigureCovariance covariance =
      core::sum_chunks(context, num_groups, std::max<std::size_t>(1024, (num_groups + kParts - 1) / kParts),
                       FigureCovariance(num_figures), part_of,
                       [](FigureCovariance& total, const FigureCovariance& part) { total.add(part); });
  if (rows.propensity_scores != nullptr && num_figures > 0)
    FigureProjection(rows, num_figures, influences, context).run(covariance);
  return covariance;
}

}  // namespace dfcl::evaluate
