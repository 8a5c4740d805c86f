// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/guardrails.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kFoldSalt = core::stream_purpose("guardrail folds");
constexpr double kLeastRows = 50.0;  // of an arm in a half, for a line; below it, the mean

std::size_t fold_of(const TrialRows& rows, std::size_t row) {
  return core::combine_hashes(rows.group_key(row), kFoldSalt) >> 63;
}

// A weighted line in two predictors, by sums.
struct Line {
  double rows = 0.0;
  double weight = 0.0;
  std::array<double, 3> mean{};  // of the predictors and the outcome
  std::array<double, 2> slope{};

  double at(double x, double y) const { return mean[2] + slope[0] * (x - mean[0]) + slope[1] * (y - mean[1]); }
};

// Per fold and arm: fitted on the rows of the other fold that received the arm.
class Lines {
 public:
  Lines(const TrialRows& rows, const std::vector<float>& outcome, const Outcomes& nuisance)
      : rows_(rows), outcome_(outcome), nuisance_(nuisance), lines_(2 * rows.num_arms()) {
    for_each([](Line& line, double weight, const std::array<double, 3>& values) {
      line.rows += 1.0;
      line.weight += weight;
      for (std::size_t i = 0; i < 3; ++i) line.mean[i] += weight * values[i];
    });
    for (Line& line : lines_) {
      for (double& mean : line.mean) mean = line.weight > 0.0 ? mean / line.weight : 0.0;
    }
    find_slopes();
  }

  double predict(std::size_t row, std::size_t arm) const {
    const Line& line = lines_[fold_of(rows_, row) * rows_.num_arms() + arm];
    return line.at(static_cast<double>(nuisance_.revenue(row, arm)), static_cast<double>(nuisance_.cost(row, arm)));
  }

 private:
  template <class Body>
  void for_each(Body&& body) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::size_t arm = rows_.arm[row];
      body(lines_[(1 - fold_of(rows_, row)) * rows_.num_arms() + arm], rows_.total_weight(row),
           std::array{static_cast<double>(nuisance_.revenue(row, arm)), static_cast<double>(nuisance_.cost(row, arm)),
                      static_cast<double>(outcome_[row])});
    }
  }

  void find_slopes() {
    std::vector<std::array<double, 5>> sums(lines_.size());  // xx, xy, yy, xg, yg
    for_each([&](Line& line, double weight, const std::array<double, 3>& values) {
      std::array<double, 5>& sum = sums[static_cast<std::size_t>(&line - lines_.data())];
      const double x = values[0] - line.mean[0], y = values[1] - line.mean[1], g = values[2] - line.mean[2];
      sum = {sum[0] + weight * x * x, sum[1] + weight * x * y, sum[2] + weight * y * y, sum[3] + weight * x * g,
             sum[4] + weight * y * g};
    });
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      const auto& [xx, xy, yy, xg, yg] = sums[i];
      if (line.rows < kLeastRows || !(xx > 0.0)) continue;
      const double determinant = xx * yy - xy * xy;
      if (determinant > 1e-6 * xx * yy) {
        line.slope = {(yy * xg - xy * yg) / determinant, (xx * yg - xy * xg) / determinant};
      } else {
        line.slope = {xg / xx, 0.0};
      }
    }
  }

  const TrialRows& rows_;
  const std::vector<float>& outcome_;
  Outcomes nuisance_;
  std::vector<Line> lines_;  // folds x arms
};

// The rows with another outcome; without ids, which no estimate looks at.
TrialRows guarded_rows(const TrialRows& rows, const GuardedOutcome& outcome) {
  TrialRows guarded;
  guarded.arms = rows.arms;
  guarded.trial_row = rows.trial_row;
  guarded.key = rows.key;
  guarded.arm = rows.arm;
  guarded.revenue = outcome.value;
  guarded.cost = outcome.value;
  guarded.weight = rows.weight;
  guarded.has_propensity = rows.has_propensity;
  guarded.sample = rows.sample;
  guarded.cluster = rows.cluster;
  guarded.cluster_key = rows.cluster_key;
  guarded.num_clusters = rows.num_clusters;
  guarded.arm_units = rows.arm_units;
  guarded.arm_weight = rows.arm_weight;
  guarded.propensity_scores = rows.propensity_scores;
  guarded.trial = rows.trial;
  return guarded;
}

}  // namespace

Guardrails::Guardrails(const TrialRows& rows, Estimator estimator, const Outcomes& nuisance, core::RunContext& context)
    : estimator_(estimator) {
  const std::vector<std::uint8_t> in_control(rows.size(), static_cast<std::uint8_t>(rows.arms.control));
  for (const GuardedOutcome& outcome : rows.guardrails) {
    names_.push_back(outcome.name);
    Guarded& guarded = guarded_.emplace_back(Guarded{guarded_rows(rows, outcome), {}, 0.0, 0.0, {}});
    if (estimator == Estimator::doubly_robust) {
      const Lines lines(rows, outcome.value, nuisance);
      guarded.nuisance = core::Matrix<float>(rows.size(), rows.num_arms());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t arm = 0; arm < rows.num_arms(); ++arm)
          guarded.nuisance(row, arm) = static_cast<float>(lines.predict(row, arm));
      }
    }
    const Rewards rewards = rewards_of(guarded);
    guarded.control = estimate_of(rewards, in_control, context).revenue;
    guarded.control_series = influence_of(rewards, in_control, context).revenue;
    guarded.control_deviation = standard_deviation(guarded.control_series, SeriesKind::influence);
  }
}

Rewards Guardrails::rewards_of(const Guarded& guarded) const {
  const core::MatrixView<const float> nuisance = guarded.nuisance.view();
  return {guarded.rows, estimator_, {nuisance, nuisance}};
}

GuardrailEstimate Guardrails::over_control(const Guarded& guarded, double value, const Series& series) {
  const Series& control = guarded.control_series;
  GuardrailEstimate one;
  one.increment = value - guarded.control;
  one.deviation = standard_deviation(combine(1.0, series, -1.0, control), SeriesKind::influence);
  // Delta method: d (m / c) = (dm - (m / c) dc) / c.
  const double ratio = value / guarded.control;
  one.relative = ratio - 1.0;
  one.relative_deviation =
      standard_deviation(combine(1.0, series, -ratio, control), SeriesKind::influence) / std::abs(guarded.control);
  return one;
}

std::vector<GuardrailEstimate> Guardrails::estimates(std::span<const std::uint8_t> plan,
                                                     core::RunContext& context) const {
  std::vector<GuardrailEstimate> estimates;
  for (const Guarded& guarded : guarded_) {
    const Rewards rewards = rewards_of(guarded);
    estimates.push_back(over_control(guarded, estimate_of(rewards, plan, context).revenue,
                                     influence_of(rewards, plan, context).revenue));
  }
  return estimates;
}

std::vector<GuardrailEstimate> Guardrails::estimates_of_mix(std::span<const double> share_per_arm,
                                                            core::RunContext& context) const {
  std::vector<GuardrailEstimate> estimates;
  for (const Guarded& guarded : guarded_) {
    const Rewards rewards = rewards_of(guarded);
    double value = 0.0;
    Series series(guarded.control_series.size());
    for (std::size_t arm = 0; arm < share_per_arm.size(); ++arm) {
      const double share = share_per_arm[arm];
      if (share <= 0.0) continue;
      const std::vector<std::uint8_t> everyone(guarded.rows.size(), static_cast<std::uint8_t>(arm));
      value += share * estimate_of(rewards, everyone, context).revenue;
      series = combine(1.0, series, share, influence_of(rewards, everyone, context).revenue);
    }
    estimates.push_back(over_control(guarded, value, series));
  }
  return estimates;
}

std::vector<GuardrailFigures> Guardrails::figures(const std::vector<GuardrailEstimate>& estimates, double critical,
                                                  double level, const Words& words) const {
  std::vector<GuardrailFigures> all;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const GuardrailEstimate& one = estimates[i];
    const Guarded& guarded = guarded_[i];
    GuardrailFigures figures;
    figures.name = names_[i];
    figures.control = core::normal_interval(guarded.control, guarded.control_deviation, level);
    figures.increment = core::normal_interval(one.increment, one.deviation, level);
    // A share of what is hardly there means nothing.
    const bool has_share = guarded.control > 3.0 * guarded.control_deviation;
    if (has_share) figures.relative = core::normal_interval(one.relative, one.relative_deviation, level);
    figures.simultaneous_low = one.increment - critical * one.deviation;
    figures.simultaneous_high = one.increment + critical * one.deviation;
    const double reach = critical * one.relative_deviation;
    say_guardrail(figures, has_share ? Interval(one.relative, one.relative - reach, one.relative + reach) : Interval(),
                  level, words);
    all.push_back(std::move(figures));
  }
  return all;
}

void say_guardrail(GuardrailFigures& figures, const Interval& relative, double level, const Words& words) {
  figures.harmed = figures.simultaneous_low > 0.0 ? "yes" : figures.simultaneous_high <= 0.0 ? "no" : "not_shown";
  const bool has_share = std::isfinite(relative.value);
  const auto number = [&](double value) { return number_words(has_share ? 100.0 * value : value, words, 3); };
  const double value = has_share ? relative.value : figures.increment.value;
  const double low = has_share ? relative.low : figures.simultaneous_low;
  const double high = has_share ? relative.high : figures.simultaneous_high;
  const char* const answer = figures.harmed == "yes"  ? "harmed"
                             : figures.harmed == "no" ? "not harmed"
                                                      : "harm not shown, nor ruled out";
  figures.sentence = fmt::format("{}: {}{}{} ({} % interval {} to {}): {}", figures.name, value > 0.0 ? "+" : "",
                                 number(value), has_share ? " %" : " per unit", number_words(100.0 * level, words),
                                 number(low), number(high), answer);
}

std::string guardrail_words(const std::vector<GuardrailFigures>& guardrails) {
  std::string text;
  for (const GuardrailFigures& guardrail : guardrails) text += (text.empty() ? "" : "; ") + guardrail.sentence;
  return text;
}

bool harms(const std::vector<GuardrailFigures>& guardrails) {
  return std::any_of(guardrails.begin(), guardrails.end(),
                     [](const GuardrailFigures& guardrail) { return guardrail.harmed == "yes"; });
}

}  // namespace dfcl::evaluate
