// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/projection.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

std::size_t chunk_size_of(std::size_t num_draws) { return std::max<std::size_t>(4096, (num_draws + 63) / 64); }

// Of both series: arms x (1 + columns), those of the first arm unused.
struct Products {
  std::vector<double> revenue;
  std::vector<double> cost;
};

Products products_of(const ScoreProjection& projection, const PlanSeries& series, core::RunContext& context) {
  const Products empty{std::vector<double>(projection.size()), std::vector<double>(projection.size())};
  return core::sum_chunks(
      context, projection.num_draws(), chunk_size_of(projection.num_draws()), empty,
      [&](std::size_t begin, std::size_t end) {
        Products part = empty;
        ScoreProjection::Draw found = projection.new_draw();
        for (std::size_t draw = begin; draw < end; ++draw) {
          projection.look_at(draw, found);
          const std::size_t group = projection.group(draw);
          projection.add(found, found.surplus, series.revenue[group], part.revenue.data());
          projection.add(found, found.surplus, series.cost[group], part.cost.data());
        }
        return part;
      },
      [](Products& total, const Products& part) {
        for (std::size_t i = 0; i < total.revenue.size(); ++i) {
          total.revenue[i] += part.revenue[i];
          total.cost[i] += part.cost[i];
        }
      });
}

void subtract(const ScoreProjection& projection, const Products& slopes, PlanSeries& series,
              core::RunContext& context) {
  std::vector<double> revenue(projection.num_draws());
  std::vector<double> cost(projection.num_draws());
  core::for_each_chunk(context, projection.num_draws(), chunk_size_of(projection.num_draws()),
                       [&](std::size_t begin, std::size_t end, std::size_t) {
                         ScoreProjection::Draw found = projection.new_draw();
                         for (std::size_t draw = begin; draw < end; ++draw) {
                           projection.look_at(draw, found);
                           revenue[draw] = projection.factor() * projection.score(found, slopes.revenue.data());
                           cost[draw] = projection.factor() * projection.score(found, slopes.cost.data());
                         }
                       });
  for (std::size_t draw = 0; draw < projection.num_draws(); ++draw) {
    series.revenue[projection.group(draw)] -= revenue[draw];
    series.cost[projection.group(draw)] -= cost[draw];
  }
}

}  // namespace

ScoreProjection::ScoreProjection(const TrialRows& rows)
    : rows_(rows), scores_(*rows.propensity_scores), width_(1 + scores_.num_columns()), share_(rows.num_arms()) {
  for (std::size_t arm = 0; arm < share_.size(); ++arm)
    share_[arm] = rows.arm_weight[arm] / static_cast<double>(rows.size());
  evaluated_draws_ = rows.draws.evaluated;
  const double evaluated = std::min(1.0, evaluated_draws_ / scores_.num_draws());
  const double taken = evaluated * static_cast<double>((rows.num_arms() - 1) * width_);
  is_possible_ = 2.0 * taken <= evaluated_draws_;
  if (!is_possible_) return;
  factor_ = 1.0 - std::sqrt(1.0 - evaluated);
  freedom_ = std::sqrt(evaluated_draws_ / (evaluated_draws_ - taken));
}

ScoreProjection::Draw ScoreProjection::new_draw() const {
  const std::size_t num_arms = rows_.num_arms();
  return {std::vector<float>(width_ - 1), std::vector<double>(num_arms), std::vector<double>(num_arms),
          std::vector<double>(num_arms)};
}

void ScoreProjection::look_at(std::size_t draw, Draw& found) const {
  const DrawnRows& draws = rows_.draws;
  const std::size_t drawn = scores_.draw_of(rows_.trial_row[draws.row[draws.begin[draw]]]);
  scores_.look_at(*rows_.trial, drawn, found.columns, found.probability);
  const double part = 1.0 / static_cast<double>(scores_.num_units(drawn));
  std::fill(found.surplus.begin(), found.surplus.end(), 0.0);
  std::fill(found.weighted.begin(), found.weighted.end(), 0.0);
  for (std::size_t place = draws.begin[draw]; place < draws.begin[draw + 1]; ++place) {
    const std::size_t row = draws.row[place];
    for (std::size_t arm = 1; arm < found.surplus.size(); ++arm) {
      const double surplus = part * ((rows_.arm[row] == arm ? 1.0 : 0.0) - found.probability[arm]);
      found.surplus[arm] += surplus;
      found.weighted[arm] += surplus * rows_.sample_weight(row);
    }
  }
}

void ScoreProjection::add(const Draw& draw, const std::vector<double>& surplus, double influence,
                          double* products) const {
  if (influence == 0.0) return;
  for (std::size_t arm = 1; arm < surplus.size(); ++arm) {
    const double times = surplus[arm] * influence;
    double* const of_arm = products + arm * width_;
    of_arm[0] += times;
    for (std::size_t k = 1; k < width_; ++k) of_arm[k] += times * static_cast<double>(draw.columns[k - 1]);
  }
}

// The inverse of diag(p) - p p' over all arms but the first is diag(1 / p_j) + 1 / p_0.
void ScoreProjection::divide(std::span<double> products) const {
  std::vector<double> sum(width_);
  for (std::size_t arm = 1; arm < share_.size(); ++arm) {
    for (std::size_t k = 0; k < width_; ++k) sum[k] += products[arm * width_ + k];
  }
  for (std::size_t arm = 1; arm < share_.size(); ++arm) {
    double* const of_arm = products.data() + arm * width_;
    for (std::size_t k = 0; k < width_; ++k)
      of_arm[k] = (of_arm[k] / share_[arm] + sum[k] / share_[0]) / evaluated_draws_;
    scores_.divide_by_covariance({of_arm + 1, width_ - 1});
  }
}

double ScoreProjection::score(const Draw& draw, const double* slopes) const {
  double sum = 0.0;
  for (std::size_t arm = 1; arm < share_.size(); ++arm) {
    const double* const of_arm = slopes + arm * width_;
    double by_columns = of_arm[0];
    for (std::size_t k = 1; k < width_; ++k) by_columns += of_arm[k] * static_cast<double>(draw.columns[k - 1]);
    sum += draw.weighted[arm] * by_columns;
  }
  return sum;
}

void project_on_scores(const TrialRows& rows, PlanSeries& series, core::RunContext& context) {
  if (rows.propensity_scores == nullptr) return;
  const ScoreProjection projection(rows);
  if (!projection.is_possible()) return;
  Products slopes = products_of(projection, series, context);
  projection.divide(slopes.revenue);
  projection.divide(slopes.cost);
  subtract(projection, slopes, series, context);
  for (double& value : series.revenue) value *= projection.freedom();
  for (double& value : series.cost) value *= projection.freedom();
}

}  // namespace dfcl::evaluate
