// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/over_seeds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace dfcl::compare {
namespace {

using evaluate::ModelFigures;

// A figure that every model has, or NaN where it has none. reference: the reference's model of the same seed.
struct Reading {
  std::string figure;
  double budget_per_unit;
  std::string arm;
  std::function<double(const ModelFigures& model, const ModelFigures& reference)> read;
};

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class Read>
double mean_value(std::size_t count, Read&& read) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += read(i);
  return sum / static_cast<double>(count);
}

double share_at(const ModelFigures& model, std::size_t budget) {
  return model.deployed[budget].share_of_oracle.value_or(kNone);
}

// Mean over the budgets of how much more revenue a model's matched plans have than the reference's.
double mean_gain(const ModelFigures& model, const ModelFigures& reference) {
  return mean_value(model.matched.size(), [&](std::size_t b) {
    return model.matched[b].revenue.value / reference.matched[b].revenue.value - 1.0;
  });
}

void add_budget_readings(std::vector<Reading>& readings, const std::vector<double>& budgets) {
  for (std::size_t b = 0; b < budgets.size(); ++b) {
    const auto add = [&](const char* name, std::function<double(const ModelFigures&)> read) {
      readings.push_back({name, budgets[b], "",
                          [read = std::move(read)](const ModelFigures& m, const ModelFigures&) { return read(m); }});
    };
    add("revenue", [b](const ModelFigures& m) { return m.deployed[b].revenue.value; });
    add("cost", [b](const ModelFigures& m) { return m.deployed[b].cost.value; });
    add("matched_revenue", [b](const ModelFigures& m) { return m.matched[b].revenue.value; });
    add("share_of_oracle", [b](const ModelFigures& m) { return share_at(m, b); });
  }
  readings.push_back({"gain", kNone, "", mean_gain});
  readings.push_back({"share_of_oracle", kNone, "", [](const ModelFigures& m, const ModelFigures&) {
                        return mean_value(m.deployed.size(), [&](std::size_t b) { return share_at(m, b); });
                      }});
}

std::vector<Reading> all_readings(const evaluate::Evaluation& evaluation) {
  std::vector<Reading> readings;
  add_budget_readings(readings, evaluation.budgets_per_unit);
  const ModelFigures& first = evaluation.models.front();
  for (std::size_t arm = 0; arm < first.aucc.size(); ++arm) {
    readings.push_back({"aucc", kNone, first.aucc[arm].arm,
                        [arm](const ModelFigures& m, const ModelFigures&) { return m.aucc[arm].published.value; }});
  }
  const auto add_fit = [&](const char* name, std::function<double(const evaluate::FitFigures&)> read) {
    readings.push_back({name, kNone, "", [read = std::move(read)](const ModelFigures& m, const ModelFigures&) {
                          return m.fit ? read(*m.fit) : kNone;
                        }});
  };
  add_fit("revenue_mse", [](const evaluate::FitFigures& fit) { return fit.revenue.mse; });
  add_fit("cost_mse", [](const evaluate::FitFigures& fit) { return fit.cost.mse; });
  add_fit("revenue_log_loss", [](const evaluate::FitFigures& fit) { return fit.revenue.log_loss.value_or(kNone); });
  add_fit("cost_log_loss", [](const evaluate::FitFigures& fit) { return fit.cost.log_loss.value_or(kNone); });
  return readings;
}

double mean_value(const std::vector<double>& values) {
  return mean_value(values.size(), [&](std::size_t i) { return values[i]; });
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return kNone;
  const double mean = mean_value(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

core::Interval interval_over(const std::vector<double>& differences, double level) {
  if (differences.empty()) return {kNone, kNone, kNone};
  if (differences.size() < 2) return {differences.front(), kNone, kNone};
  const auto count = static_cast<double>(differences.size());
  return core::t_interval(mean_value(differences), standard_deviation(differences) / std::sqrt(count), count - 1.0,
                          level);
}

}  // namespace

Interval mean_interval(const SeedFigure& figure, double level) {
  const auto count = static_cast<double>(figure.values.size());
  if (figure.values.size() < 2) return {figure.mean};
  return core::t_interval(figure.mean, figure.sd / std::sqrt(count), count - 1.0, level);
}

std::vector<SeedEntry> over_seeds(const evaluate::Evaluation& evaluation, std::span<const TrainedModel> trained,
                                  std::span<const std::string> names, double level) {
  std::map<std::uint64_t, std::size_t> reference;  // seed -> model
  for (std::size_t i = 0; i < trained.size(); ++i) {
    if (trained[i].entry == 0) reference[trained[i].seed] = i;
  }
  std::vector<SeedEntry> entries;
  for (const std::string& name : names) entries.push_back({name, {}});
  for (const Reading& reading : all_readings(evaluation)) {
    for (std::size_t entry = 0; entry < names.size(); ++entry) {
      SeedFigure figure{.figure = reading.figure, .budget_per_unit = reading.budget_per_unit, .arm = reading.arm};
      std::vector<double> differences;
      for (std::size_t i = 0; i < trained.size(); ++i) {
        const auto pair = reference.find(trained[i].seed);
        if (trained[i].entry != entry || pair == reference.end()) continue;
        const ModelFigures& of_reference = evaluation.models[pair->second];
        const double value = reading.read(evaluation.models[i], of_reference);
        if (!std::isfinite(value)) continue;
        figure.seeds.push_back(trained[i].seed);
        figure.values.push_back(value);
        const double beside = reading.read(of_reference, of_reference);
        if (entry != 0 && std::isfinite(beside)) differences.push_back(value - beside);
      }
      if (figure.values.empty()) continue;
      figure.mean = mean_value(figure.values);
      figure.sd = standard_deviation(figure.values);
      figure.difference = interval_over(differences, level);
      entries[entry].figures.push_back(std::move(figure));
    }
  }
  return entries;
}

}  // namespace dfcl::compare
