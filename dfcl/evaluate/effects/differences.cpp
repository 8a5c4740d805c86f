// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfcl::evaluate {
namespace {

// Two digits, and whole numbers from 10 on.
std::string percent(double share) {
  return std::abs(share) >= 0.0995 ? fmt::format("{:.0f}", 100.0 * share) : fmt::format("{:.2g}", 100.0 * share);
}

std::string interval_words(const Interval& interval, double level) {
  return fmt::format("{:.3g} % interval {} to {}", 100.0 * level, percent(interval.low), percent(interval.high));
}

// In plain words, by the simultaneous interval: looking at many differences must not make one of them true.
std::string sentence_of(const DifferenceFigures& figures, double level, bool cost_is_known) {
  if (!figures.revenue.has_ends()) return "No interval can be given, so no difference can be shown.";
  if (figures.revenue.value == 0.0 && figures.revenue.low == 0.0 && figures.revenue.high == 0.0) {
    return fmt::format("{} and {} earn exactly the same at this budget.", figures.model, figures.reference);
  }
  const bool shown = figures.simultaneous_low > 0.0 || figures.simultaneous_high < 0.0;
  std::string text;
  if (!shown) {
    text = fmt::format("No difference between {} and {} can be shown at this budget ({} %, {})", figures.model,
                       figures.reference, percent(figures.relative.value), interval_words(figures.relative, level));
    if (figures.revenue.low > 0.0 || figures.revenue.high < 0.0) text += ", once all comparisons are counted";
    return text + ".";
  }
  const bool more = figures.revenue.value > 0.0;
  text = fmt::format(
      "{} earns {} % {} than {} at this budget, {}", figures.model, percent(std::abs(figures.relative.value)),
      more ? "more" : "less", figures.reference,
      interval_words(
          more ? figures.relative : Interval(-figures.relative.value, -figures.relative.high, -figures.relative.low),
          level));
  const bool other_cost = cost_is_known
                              ? figures.cost.value != 0.0
                              : figures.cost.has_ends() && (figures.cost.low > 0.0 || figures.cost.high < 0.0);
  if (other_cost) {
    text += fmt::format(", and spends {:.3g} {} per unit", std::abs(figures.cost.value),
                        figures.cost.value > 0.0 ? "more" : "less");
  }
  return text + ".";
}

// How a model's plan less the reference's spreads.
struct DifferenceSpread {
  double revenue = 0.0;
  double cost = 0.0;
  double relative = 0.0;
  Series revenue_series;  // by resampling only
};

DifferenceSpread difference_spread(const PlanSeries& model, const PlanSeries& reference, const PlanEstimate& value,
                                   const PlanEstimate& reference_value, SeriesKind kind) {
  DifferenceSpread spread;
  spread.revenue_series = combine(1.0, model.revenue, -1.0, reference.revenue);
  spread.revenue = standard_deviation(spread.revenue_series, kind);
  spread.cost = standard_deviation(combine(1.0, model.cost, -1.0, reference.cost), kind);
  // Delta method: d (m / r) = (dm - (m / r) dr) / r.
  const double quotient = value.revenue / reference_value.revenue;
  spread.relative = standard_deviation(combine(1.0, model.revenue, -quotient, reference.revenue), kind) /
                    std::abs(reference_value.revenue);
  if (kind == SeriesKind::influence) spread.revenue_series = {};
  return spread;
}

// Two models: the first less the second.
struct ModelPair {
  std::size_t model = 0;
  std::size_t reference = 0;
};

// A pair with its spreads, per budget.
struct PairSpread {
  ModelPair pair;
  std::vector<DifferenceSpread> spreads;
};

// Influences are made once a plan, of one budget at a time: 16 bytes a row and model.
void add_spreads(const Setting& setting, const std::vector<ModelRun>& runs, std::vector<PairSpread>& pairs) {
  const bool analytic = setting.kind == SeriesKind::influence;
  for (std::size_t budget = 0; !pairs.empty() && budget < setting.budgets.size(); ++budget) {
    std::vector<PlanSeries> influence;
    for (const ModelRun& run : runs) {
      if (analytic) influence.push_back(influence_for(setting, run.plans[budget]));
    }
    const auto series = [&](std::size_t model) -> const PlanSeries& {
      return analytic ? influence[model] : runs[model].deployed[budget].series;
    };
    const auto estimate = [&](std::size_t model) { return runs[model].deployed[budget].estimate; };
    for (PairSpread& found : pairs) {
      const auto [model, reference] = found.pair;
      found.spreads.push_back(
          difference_spread(series(model), series(reference), estimate(model), estimate(reference), setting.kind));
    }
  }
}

bool both_count_in(const Setting& setting, const ModelPair& pair, Family family) {
  return counts_in(setting, pair.model, family) && counts_in(setting, pair.reference, family);
}

// Over the differences of a family.
double difference_critical(const Setting& setting, const std::vector<ModelRun>& runs,
                           const std::vector<PairSpread>& pairs, Family family) {
  std::vector<double> values;
  std::vector<double> deviations;
  std::vector<std::span<const double>> resamples;
  for (const PairSpread& found : pairs) {
    if (!both_count_in(setting, found.pair, family)) continue;
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      const DifferenceSpread& spread = found.spreads[budget];
      values.push_back(runs[found.pair.model].deployed[budget].estimate.revenue -
                       runs[found.pair.reference].deployed[budget].estimate.revenue);
      deviations.push_back(spread.revenue);
      resamples.emplace_back(spread.revenue_series);
    }
  }
  return critical_of(setting, values, deviations, resamples);
}

DifferenceFigures difference_at(const Setting& setting, const std::vector<ModelRun>& runs, const PairSpread& found,
                                std::size_t budget, double critical) {
  const double level = setting.options.level;
  const PlanEstimate& value = runs[found.pair.model].deployed[budget].estimate;
  const PlanEstimate& reference = runs[found.pair.reference].deployed[budget].estimate;
  const DifferenceSpread& spread = found.spreads[budget];
  DifferenceFigures figures;
  figures.model = setting.input.models[found.pair.model].name;
  figures.reference = setting.input.models[found.pair.reference].name;
  figures.budget_per_unit = setting.budgets[budget];
  const double difference = value.revenue - reference.revenue;
  figures.revenue = core::normal_interval(difference, spread.revenue, level);
  figures.simultaneous_low = difference - critical * spread.revenue;
  figures.simultaneous_high = difference + critical * spread.revenue;
  figures.relative = core::normal_interval(difference / reference.revenue, spread.relative, level);
  figures.cost = setting.knows_prices() ? Interval(value.cost - reference.cost)
                                        : core::normal_interval(value.cost - reference.cost, spread.cost, level);
  figures.p_value = two_sided_p(difference, spread.revenue);
  figures.sentence = sentence_of(figures, level, setting.knows_prices());
  return figures;
}

// at_once: the interval that holds for all models and arms together.
std::string area_sentence(const AuccDifferenceFigures& figures, const Interval& at_once) {
  if (!figures.area.has_ends()) {
    return fmt::format("No interval can be given for {} and {} on arm '{}', so no difference can be shown.",
                       figures.model, figures.reference, figures.arm);
  }
  if (at_once.low > 0.0 || at_once.high < 0.0) {
    return fmt::format(
        "{} ranks {} than {} for arm '{}': its cost curve has an area {:.3g} {} (interval {:.3g} to "
        "{:.3g}, all comparisons counted).",
        figures.model, figures.area.value > 0.0 ? "better" : "worse", figures.reference, figures.arm,
        std::abs(figures.area.value), figures.area.value > 0.0 ? "larger" : "smaller", at_once.low, at_once.high);
  }
  const bool alone = figures.area.low > 0.0 || figures.area.high < 0.0;
  return fmt::format("No difference in ranking between {} and {} can be shown for arm '{}'{}.", figures.model,
                     figures.reference, figures.arm, alone ? ", once all comparisons are counted" : "");
}

}  // namespace

double critical_of(const Setting& setting, const std::vector<double>& values, const std::vector<double>& deviations,
                   const std::vector<std::span<const double>>& resamples) {
  if (setting.kind == SeriesKind::influence) {
    const auto counted = std::count_if(deviations.begin(), deviations.end(), [](double d) { return d > 0.0; });
    return bonferroni_critical(static_cast<std::size_t>(counted), setting.options.level);
  }
  return simultaneous_critical(values, deviations, resamples, setting.options.level);
}

bool counts_in(const Setting& setting, std::size_t model, Family family) {
  return family == Family::all || !setting.input.models[model].is_alternative;
}

std::size_t choose_reference(const Setting& setting, const std::vector<ModelRun>& runs,
                             const std::vector<double>& price) {
  if (setting.input.reference) return *setting.input.reference;
  const auto rank = [&](std::size_t model) {
    double net = 0.0;
    for (std::size_t budget = 0; budget < price.size(); ++budget) {
      const PlanEstimate& estimate = runs[model].deployed[budget].estimate;
      net += estimate.revenue - price[budget] * estimate.cost;
    }
    return std::pair(counts_in(setting, model, Family::launchable), net);
  };
  std::size_t best = 0;
  for (std::size_t model = 1; model < runs.size(); ++model) {
    const bool is_first_by_name = setting.input.models[model].name < setting.input.models[best].name;
    if (rank(model) > rank(best) || (rank(model) == rank(best) && is_first_by_name)) best = model;
  }
  return best;
}

std::vector<DifferenceFigures> difference_figures(const Setting& setting, const std::vector<ModelRun>& runs,
                                                  std::size_t reference) {
  std::vector<PairSpread> pairs;
  for (std::size_t model = 0; model < runs.size(); ++model) {
    if (model != reference) pairs.push_back({{model, reference}, {}});
  }
  const std::size_t num_shown = pairs.size();
  for (std::size_t first = 0; !setting.input.reference && first < runs.size(); ++first) {
    for (std::size_t second = 0; second < first; ++second) {
      if (first != reference && second != reference) pairs.push_back({{first, second}, {}});
    }
  }
  add_spreads(setting, runs, pairs);
  const double of_launchable = difference_critical(setting, runs, pairs, Family::launchable);
  const double of_all = difference_critical(setting, runs, pairs, Family::all);
  std::vector<DifferenceFigures> figures;
  for (const PairSpread& found : std::span(pairs).first(num_shown)) {
    const double critical = both_count_in(setting, found.pair, Family::launchable) ? of_launchable : of_all;
    std::vector<DifferenceFigures> of_pair(setting.budgets.size());
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      of_pair[setting.budget_order[budget]] = difference_at(setting, runs, found, budget, critical);
    }
    figures.insert(figures.end(), of_pair.begin(), of_pair.end());
  }
  return figures;
}

std::vector<AuccDifferenceFigures> aucc_differences(const Setting& setting,
                                                    const std::vector<std::vector<ArmAreas>>& areas,
                                                    std::size_t reference_model) {
  const double level = setting.options.level;
  // A reference that was chosen by its estimates stands for all pairs that it was chosen from.
  const std::size_t others = areas.empty() ? 0 : areas.size() - 1;
  const std::size_t pairs = setting.input.reference ? others : others * (others + 1) / 2;
  const std::size_t count = std::max<std::size_t>(1, pairs * (areas.empty() ? 0 : areas.front().size()));
  const double level_at_once = 1.0 - (1.0 - level) / static_cast<double>(count);
  std::vector<AuccDifferenceFigures> all;
  for (std::size_t model = 0; model < areas.size(); ++model) {
    for (std::size_t arm = 0; model != reference_model && arm < areas[model].size(); ++arm) {
      const ArmAreas& own = areas[model][arm];
      const ArmAreas& reference = areas[reference_model][arm];
      AuccDifferenceFigures figures;
      figures.model = setting.input.models[model].name;
      figures.reference = setting.input.models[reference_model].name;
      figures.arm = setting.input.rows.arms.labels[own.arm];
      figures.published = Interval(own.aucc.published - reference.aucc.published);
      figures.area = Interval(own.aucc.area - reference.aucc.area);
      figures.p_value = std::nan("");
      Interval at_once;
      if (own.totals_away_from_zero) {
        const Series area = combine(1.0, own.area, -1.0, reference.area);
        figures.published =
            percentile_interval(figures.published.value, combine(1.0, own.published, -1.0, reference.published), level);
        figures.area = percentile_interval(figures.area.value, area, level);
        figures.p_value = percentile_p(area);
        at_once = percentile_interval(figures.area.value, area, level_at_once);
      }
      figures.sentence = area_sentence(figures, at_once);
      all.push_back(std::move(figures));
    }
  }
  return all;
}

}  // namespace dfcl::evaluate
