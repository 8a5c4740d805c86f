// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/projection.h"

#include <cmath>
#include <vector>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 4096;

// What is summed of both series: arms x (1 + columns), those of the first arm unused.
struct Products {
  std::vector<double> revenue;
  std::vector<double> cost;
  double num_draws = 0.0;  // that the rows belong to
};

class Projection {
 public:
  Projection(const TrialRows& rows, core::RunContext& context)
      : rows_(rows),
        scores_(*rows.propensity_scores),
        context_(context),
        width_(1 + scores_.num_columns()),
        share_(rows.num_arms()) {
    for (std::size_t row = 0; row < rows.size(); ++row) share_[rows.arm[row]] += 1.0 / static_cast<double>(rows.size());
  }

  void run(PlanSeries& series) {
    Products slopes = products(series);
    const double num_draws = slopes.num_draws;
    const double evaluated = std::min(1.0, num_draws / scores_.num_draws());
    const double freedom = evaluated * static_cast<double>((rows_.num_arms() - 1) * width_);
    if (2.0 * freedom > num_draws) return;  // too few rows for so many columns: the wider interval stays
    divide(slopes.revenue, num_draws);
    divide(slopes.cost, num_draws);
    subtract(slopes, 1.0 - std::sqrt(1.0 - evaluated), series);
    const double factor = std::sqrt(num_draws / (num_draws - freedom));
    for (double& value : series.revenue) value *= factor;
    for (double& value : series.cost) value *= factor;
  }

 private:
  // Calls body(row, arm, its score for the arm, columns) for every row of a chunk and every arm but the first. Returns
  // the sum of the rows' shares of their draws.
  template <class Body>
  double for_each_score(std::size_t begin, std::size_t end, Body&& body) const {
    std::vector<float> columns(width_ - 1);
    std::vector<double> probability(rows_.num_arms());
    double draws = 0.0;
    for (std::size_t row = begin; row < end; ++row) {
      const double part = scores_.look_at(*rows_.trial, rows_.trial_row[row], columns, probability);
      draws += part;
      for (std::size_t arm = 1; arm < rows_.num_arms(); ++arm)
        body(row, arm, part * ((rows_.arm[row] == arm ? 1.0 : 0.0) - probability[arm]), columns);
    }
    return draws;
  }

  Products products(const PlanSeries& series) const {
    const std::size_t size = rows_.num_arms() * width_;
    return core::sum_chunks(
        context_, rows_.size(), kChunkRows, Products{std::vector<double>(size), std::vector<double>(size), 0.0},
        [&](std::size_t begin, std::size_t end) {
          Products part{std::vector<double>(size), std::vector<double>(size), 0.0};
          part.num_draws = for_each_score(
              begin, end, [&](std::size_t row, std::size_t arm, double surplus, const std::vector<float>& columns) {
                const double revenue = surplus * series.revenue[rows_.group(row)];
                const double cost = surplus * series.cost[rows_.group(row)];
                double* const to_revenue = part.revenue.data() + arm * width_;
                double* const to_cost = part.cost.data() + arm * width_;
                to_revenue[0] += revenue;
                to_cost[0] += cost;
                for (std::size_t k = 1; k < width_; ++k) {
                  to_revenue[k] += revenue * static_cast<double>(columns[k - 1]);
                  to_cost[k] += cost * static_cast<double>(columns[k - 1]);
                }
              });
          return part;
        },
        [](Products& total, const Products& part) {
          total.num_draws += part.num_draws;
          for (std::size_t i = 0; i < total.revenue.size(); ++i) {
            total.revenue[i] += part.revenue[i];
            total.cost[i] += part.cost[i];
          }
        });
  }

  // By the information of the scores: the inverse of diag(p) - p p' over all arms but the first is
  // diag(1 / p_j) + 1 / p_0.
  void divide(std::vector<double>& products, double num_draws) const {
    std::vector<double> sum(width_);
    for (std::size_t arm = 1; arm < rows_.num_arms(); ++arm) {
      for (std::size_t k = 0; k < width_; ++k) sum[k] += products[arm * width_ + k];
    }
    for (std::size_t arm = 1; arm < rows_.num_arms(); ++arm) {
      double* const of_arm = products.data() + arm * width_;
      for (std::size_t k = 0; k < width_; ++k) of_arm[k] = (of_arm[k] / share_[arm] + sum[k] / share_[0]) / num_draws;
      scores_.divide_by_covariance({of_arm + 1, width_ - 1});
    }
  }

  void subtract(const Products& slopes, double factor, PlanSeries& series) const {
    std::vector<double> revenue(rows_.size());
    std::vector<double> cost(rows_.size());
    core::for_each_chunk(context_, rows_.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
      (void)for_each_score(
          begin, end, [&](std::size_t row, std::size_t arm, double surplus, const std::vector<float>& columns) {
            const double* const of_revenue = slopes.revenue.data() + arm * width_;
            const double* const of_cost = slopes.cost.data() + arm * width_;
            double by_revenue = of_revenue[0];
            double by_cost = of_cost[0];
            for (std::size_t k = 1; k < width_; ++k) {
              by_revenue += of_revenue[k] * static_cast<double>(columns[k - 1]);
              by_cost += of_cost[k] * static_cast<double>(columns[k - 1]);
            }
            const double weighted = factor * surplus * rows_.sample_weight(row);  // as the model was fitted
            revenue[row] += weighted * by_revenue;
            cost[row] += weighted * by_cost;
          });
    });
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      series.revenue[rows_.group(row)] -= revenue[row];
      series.cost[rows_.group(row)] -= cost[row];
    }
  }

  const TrialRows& rows_;
  const data::PropensityScores& scores_;
  core::RunContext& context_;
  std::size_t width_;  // the intercept and the columns
  std::vector<double> share_;
};

}  // namespace

void project_on_scores(const TrialRows& rows, PlanSeries& series, core::RunContext& context) {
  if (rows.propensity_scores != nullptr) Projection(rows, context).run(series);
}

}  // namespace dfcl::evaluate
