// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfcl::check {
namespace {

constexpr std::size_t kFewUnits = 1000;  // in an arm: effects of the usual size cannot be seen
constexpr std::size_t kTooFewForASpread = 30;
constexpr std::size_t kFewWithRevenue = 100;  // in an arm: means hang on a handful of units
constexpr std::size_t kFewClusters = 30;      // in an arm: cluster-robust intervals are too narrow
constexpr float kSmallPropensity = 0.01f;     // one unit then counts for a hundred

using Findings = std::vector<Finding>;

std::string plural(Drawn drawn) {
  return drawn == Drawn::cluster_and_time ? "clusters at each time" : fmt::format("{}s", to_text(drawn));
}

std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

void judge_sample_ratio(const CheckResult& result, const CheckOptions& options, Findings& problems,
                        Findings& warnings) {
  const SampleRatio& ratio = result.sample_ratio;
  if (!ratio.run) {
    std::string shares;  // equal, in four digits that add up to 1
    const double equal = std::round(1e4 / static_cast<double>(result.arms.size())) / 1e4;
    for (const ArmSummary& arm : result.arms) {
      const bool last = &arm == &result.arms.back();
      shares += fmt::format("{}\"{}\" = {:.4g}", shares.empty() ? "" : ", ", arm.label,
                            last ? 1.0 - equal * static_cast<double>(result.arms.size() - 1) : equal);
    }
    warnings.push_back(
        {"sample-ratio", fmt::format("The sample-ratio test was not run: {}.", ratio.why_not),
         "declare the shares the trial was designed with, for example [arms] share = { " + shares + " }"});
    return;
  }
  const std::string hint =
      "units were lost, added or filtered after the arms were drawn, or [arms] share is not the design: find out "
      "before learning";
  const std::string counted = plural(result.drawn);
  if (ratio.p < options.unfit_p) {
    problems.push_back({"sample-ratio",
                        fmt::format("The arms do not have their designed shares of the {}: chi-square {:.1f} on {:.0f} "
                                    "degrees of freedom, {}.",
                                    counted, ratio.chi_square, ratio.degrees, p_text(ratio.p)),
                        hint});
    return;
  }
  const SampleRatioTime* worst = nullptr;
  for (const SampleRatioTime& time : ratio.times) {
    if (time.reliable && (worst == nullptr || time.p < worst->p)) worst = &time;
  }
  if (worst != nullptr && worst->p * static_cast<double>(ratio.times.size()) < options.unfit_p) {
    problems.push_back(
        {"sample-ratio",
         fmt::format("At time {} the arms do not have their designed shares: chi-square {:.1f} on {:.0f} degrees "
                     "of freedom, {}.",
                     worst->time, worst->chi_square, ratio.degrees, p_text(worst->p)),
         hint});
  } else if (ratio.pooled_run && ratio.pooled_p < options.unfit_p) {
    problems.push_back(
        {"sample-ratio",
         fmt::format("Within times the arms do not have their designed shares: chi-square {:.1f} on {:.0f} degrees of "
                     "freedom, {}.",
                     ratio.pooled_chi_square, ratio.pooled_degrees, p_text(ratio.pooled_p)),
         hint});
  }
}

// Certain but small, in a trial whose sample ratio is in order as far as it was tested: estimated propensities take
// care of it. Propensities that the study declares are part of the test, so that there is nothing left to estimate.
bool is_adjustable(const CheckResult& result, const CheckOptions& options, const Findings& problems) {
  return problems.empty() && !result.weighted && result.largest_difference < options.adjustable_difference;
}

// problems: those of the sample ratio. Sets the largest difference and, where it can be adjusted, the grade.
void judge_balance(const CheckOptions& options, CheckResult& result, Findings& problems, Findings& warnings) {
  const Balance& balance = result.balance;
  if (!balance.run) {
    warnings.push_back({"balance", fmt::format("Balance was not tested: {}.", balance.why_not), ""});
    return;
  }
  const auto is_suspect = [&](const std::string& name) {
    return std::any_of(result.suspects.begin(), result.suspects.end(),
                       [&](const Suspect& s) { return s.name == name; });
  };
  std::vector<const FeatureBalance*> rest;
  for (const FeatureBalance& feature : balance.features) {
    if (feature.tested && !is_suspect(feature.name)) rest.push_back(&feature);
  }
  std::stable_sort(rest.begin(), rest.end(), [](const auto* a, const auto* b) { return a->p < b->p; });
  const double level = 0.05 / static_cast<double>(std::max<std::size_t>(1, rest.size()));
  std::vector<const FeatureBalance*> different;
  for (const FeatureBalance* feature : rest) {
    if (feature->p < level) different.push_back(feature);
  }
  std::stable_sort(different.begin(), different.end(),
                   [](const auto* a, const auto* b) { return std::fabs(a->difference) > std::fabs(b->difference); });
  std::vector<std::string> imbalanced;
  for (const FeatureBalance* feature : different)
    imbalanced.push_back(fmt::format("{} ({:+.3f})", feature->name, feature->difference));
  double& largest = result.largest_difference;
  for (const FeatureBalance* feature : rest) largest = std::max(largest, std::fabs(feature->difference));
  if (std::min(balance.p, balance.smallest_p) < options.unfit_p) {
    const std::string found = fmt::format(
        "Features differ between arms by more than chance{}. All features together: {}; the worst alone: {} (corrected "
        "for their number).",
        imbalanced.empty() ? "" : fmt::format(", in standard deviations: {}", names_of(imbalanced)), p_text(balance.p),
        p_text(balance.smallest_p));
    if (is_adjustable(result, options, problems)) {
      result.grade = Grade::adjustable;
      warnings.insert(warnings.begin(),
                      {"imbalance",
                       fmt::format("{} The differences are certain but small, at most {:.3f} standard deviations: they "
                                   "are adjusted for by estimated propensities{}. Read with care{}.",
                                   found, largest,
                                   balance.num_columns > options.max_columns
                                       ? fmt::format(" on the {} columns of the features that differ most, of {}",
                                                     options.max_columns, balance.num_columns)
                                       : "",
                                   result.sample_ratio.run ? "" : ", the more so as the sample ratio was not tested"),
                       "find out why; columns measured after the arm was given belong in [columns] exclude"});
      return;
    }
    problems.push_back(
        {"balance", found,
         fmt::format(
             "the arms were not drawn at random, or these columns were measured after the arm was given: "
             "exclude those, or give the probabilities in [columns] propensity. The largest difference is {:.3f} "
             "standard deviations",
             largest)});
  } else if (!imbalanced.empty()) {
    warnings.push_back(
        {"balance",
         fmt::format("Single features differ between arms more than is usual by chance: {}.", names_of(imbalanced)),
         "check that they were measured before the arm was given"});
  }
}

void judge_duplicates(const CheckResult& result, const data::Study& study, const CheckOptions& options,
                      Findings& problems, Findings& warnings) {
  const Duplicates& found = result.duplicates;
  // Where the id is the cluster as well, the user said that it comes again.
  if (found.num_rows == 0 || (study.columns.cluster && study.columns.cluster == study.columns.id)) return;
  const double share = static_cast<double>(found.num_rows) / static_cast<double>(result.num_units);
  const Finding finding{
      "duplicates",
      fmt::format(
          "{} rows ({:.2g} %) repeat the {} of an earlier row{}; for example {}.", found.num_rows, 100.0 * share,
          found.key,
          found.num_in_two_arms > 0 ? fmt::format(", {} of them in more than one arm", found.num_in_two_arms) : "",
          names_of(found.examples)),
      !study.columns.time ? "remove the repeated rows, name what tells them apart in [columns] time, or name "
                            "the id as [columns] cluster too"
                          : "remove the repeated rows: a unit is one id at one time"};
  (share > options.unfit_duplicates ? problems : warnings).push_back(finding);
}

void judge_suspects(const CheckResult& result, Findings& problems) {
  for (const Suspect& suspect : result.suspects) {
    problems.push_back({"suspect",
                        suspect.of == SuspectOf::arm
                            ? fmt::format("'{}' looks like a consequence of the arm: {}.", suspect.name, suspect.why)
                            : fmt::format("'{}' tells the revenue: {}.", suspect.name, suspect.why),
                        suspect.hint});
  }
}

void judge_groups(const data::Trial& trial, const data::Study& study, const CheckResult& result,
                  const TimeFindings& times, const CheckOptions& options, Findings& warnings) {
  if (trial.has_clusters() && result.drawn == Drawn::unit) {
    warnings.push_back(
        {"cluster",
         fmt::format("Units of one cluster got different arms ({} clusters): the arms were not drawn by cluster. "
                     "Sample ratio and balance go by unit, intervals by cluster.",
                     result.num_mixed_groups),
         "if units of a cluster affect each other, differences between arms are not what they seem"});
  } else if (result.num_mixed_groups > 0 && result.drawn == Drawn::cluster) {
    warnings.push_back(
        {"cluster",
         fmt::format("{} {} hold more than one arm, though arms were drawn by {}; each counts for the arm of most "
                     "of its units.",
                     result.num_mixed_groups, plural(result.drawn), to_text(result.drawn)),
         ""});
  }
  if (trial.has_time() && !study.columns.id && !trial.has_clusters()) {
    warnings.push_back(
        {"time", "There is a time but no id: units that come again cannot be seen, so intervals may be too narrow.",
         "name the id in [columns] id"});
  }
  if (times.share_drift_p < options.unfit_p && !result.sample_ratio.run) {
    warnings.push_back({"time",
                        fmt::format("The shares of the arms change over time ({}): times are then mixed up with arms.",
                                    p_text(times.share_drift_p)),
                        "if that was the design, give each row's probability in [columns] propensity"});
  }
}

// A spread that is estimated from a handful is estimated too small.
const char* intervals_to_expect(std::size_t num_units) {
  return num_units < kTooFewForASpread ? "wide intervals, which are still too narrow" : "wide intervals";
}

// Of all arms together.
void judge_revenue(const CheckResult& result, Findings& warnings) {
  std::size_t with_revenue = 0;
  for (const ArmSummary& arm : result.arms) with_revenue += arm.num_with_revenue;
  if (with_revenue >= kTooFewForASpread) return;
  warnings.push_back(
      {"few-units",
       fmt::format("Only {} of {} units have any revenue: too few to learn from, and a split may hold none.",
                   with_revenue, result.num_units),
       "an outcome that happens more often as [columns] revenue, or more units"});
}

void judge_arms(const data::Trial& trial, const RowFacts& facts, const CheckResult& result, Findings& warnings) {
  judge_revenue(result, warnings);
  for (const ArmSummary& arm : result.arms) {
    if (arm.num_units < kFewUnits) {
      warnings.push_back({"few-units",
                          fmt::format("Arm '{}' has only {} units: expect {}.", arm.label, arm.num_units,
                                      intervals_to_expect(arm.num_units)),
                          ""});
    } else if (arm.num_with_revenue < kFewWithRevenue) {
      warnings.push_back({"few-units",
                          fmt::format("Only {} units of arm '{}' have any revenue: expect {}.", arm.num_with_revenue,
                                      arm.label, intervals_to_expect(arm.num_with_revenue)),
                          ""});
    }
    if (trial.has_clusters() && arm.num_clusters < kFewClusters) {
      warnings.push_back({"few-units",
                          fmt::format("Arm '{}' has only {} clusters: its intervals are rather too narrow.", arm.label,
                                      arm.num_clusters),
                          ""});
    }
  }
  const float smallest = facts.smallest_propensity;
  if (smallest < kSmallPropensity) {
    warnings.push_back({"propensity",
                        fmt::format("The smallest propensity is {:.2g}: single units carry weights of {:.0f}.",
                                    smallest, 1.0 / static_cast<double>(smallest)),
                        ""});
  }
}

void judge_costs(const data::Trial& trial, const data::Study& study, const RowFacts& facts, const CheckResult& result,
                 Findings& warnings) {
  if (!facts.any_cost) {
    warnings.push_back({"cost", "No unit cost anything in any arm: no budget can bind.",
                        "name the cost column, or give [arms] cost or cost_per_revenue"});
  }
  if (study.cost.non_negative && facts.negative_costs > 0) {
    warnings.push_back(
        {"cost", fmt::format("[cost] non_negative is declared, but {} units cost less than 0.", facts.negative_costs),
         ""});
  }
  if (study.cost.control_is_free && facts.control_costs > 0) {
    warnings.push_back({"cost",
                        fmt::format("[cost] control_is_free is declared, but {} units of control cost something.",
                                    facts.control_costs),
                        ""});
  }
  if (!study.cost.rises_with_arm || !trial.arms.ordered) return;
  for (std::size_t arm = 1; arm < result.arms.size(); ++arm) {
    if (result.arms[arm].cost.value < result.arms[arm - 1].cost.value) {
      warnings.push_back({"cost",
                          fmt::format("[cost] rises_with_arm is declared, but arm '{}' costs less than arm '{}'.",
                                      result.arms[arm].label, result.arms[arm - 1].label),
                          ""});
    }
  }
}

void judge_constants(const CheckResult& result, Findings& warnings) {
  std::vector<std::string> constant;
  for (const ColumnSummary& column : result.columns) {
    if (column.constant) constant.push_back(column.name);
  }
  if (constant.empty()) return;
  warnings.push_back(
      {"constant",
       fmt::format("{} of {} features never vary: {}.", constant.size(), result.columns.size(), names_of(constant)),
       "they teach nothing; add them to [columns] exclude"});
}

}  // namespace

std::string_view to_text(Grade grade) {
  switch (grade) {
    case Grade::balanced: return "balanced";
    case Grade::adjustable: return "adjustable";
    case Grade::unfit: return "unfit";
  }
  return "";
}

std::string p_text(double p) { return p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.{}f}", p, p < 0.01 ? 4 : 3); }

void RowFacts::add(const data::Trial& trial, std::size_t row) {
  const float cost = trial.cost[row];
  negative_costs += cost < 0.0f ? 1 : 0;
  control_costs += trial.arm[row] == trial.arms.control && cost != 0.0f ? 1 : 0;
  any_cost = any_cost || cost != 0.0f;
  if (!trial.propensity.empty()) smallest_propensity = std::min(smallest_propensity, trial.propensity[row]);
}

void RowFacts::merge(const RowFacts& other) {
  negative_costs += other.negative_costs;
  control_costs += other.control_costs;
  any_cost = any_cost || other.any_cost;
  smallest_propensity = std::min(smallest_propensity, other.smallest_propensity);
}

void judge(const data::Trial& trial, const data::Study& study, const CheckOptions& options, const TimeFindings& times,
           const RowFacts& facts, CheckResult& result) {
  Findings problems;
  Findings warnings;
  judge_sample_ratio(result, options, problems, warnings);
  judge_balance(options, result, problems, warnings);
  judge_suspects(result, problems);
  judge_duplicates(result, study, options, problems, warnings);
  judge_groups(trial, study, result, times, options, warnings);
  judge_arms(trial, facts, result, warnings);
  judge_costs(trial, study, facts, result, warnings);
  judge_constants(result, warnings);
  result.fit = problems.empty();
  if (!result.fit) result.grade = Grade::unfit;
  result.problems = std::move(problems);
  result.warnings = std::move(warnings);
}

}  // namespace dfcl::check
