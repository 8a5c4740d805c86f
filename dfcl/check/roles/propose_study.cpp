// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/propose_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dfcl/check/roles/arm_choice.h"
#include "dfcl/check/roles/draw_groups.h"
#include "dfcl/check/roles/leaks.h"
#include "dfcl/check/roles/missing_codes.h"
#include "dfcl/check/roles/outcomes.h"
#include "dfcl/check/roles/role_words.h"
#include "dfcl/core/error_makers.h"

namespace dfcl::check {
namespace {

constexpr double kBudgetShares[] = {0.1, 0.2, 0.4};  // of the way to the costliest arm: always within reach

class Proposer {
 public:
  Proposer(const data::TableSummary& summary, data::TableSample sample, const StudyHints& hints)
      : summary_(summary), sample_(std::move(sample)), hints_(hints) {
    evidence_.taken.assign(sample_.columns.size(), false);
  }

  StudyProposal propose() {
    check_hints();
    propose_arm();
    propose_names();
    propose_missing();
    propose_sampling();
    compare_arms();
    propose_outcomes();
    propose_features();
    propose_categories();
    propose_budgets();
    return std::move(proposal_);
  }

 private:
  std::size_t index_of(const char* field, const std::string& name) const {
    for (std::size_t i = 0; i < summary_.columns.size(); ++i) {
      if (summary_.columns[i].name == name) return i;
    }
    throw core::field_error(field, "no such column", fmt::format("'{}'", name), "a column of the trial");
  }

  void check_hints() const {
    for (const auto& [field, name] :
         {std::pair{"arm", hints_.arm}, std::pair{"revenue", hints_.revenue}, std::pair{"cost", hints_.cost}}) {
      if (!name) continue;
      const std::size_t column = index_of(field, *name);
      if (std::string_view(field) != "arm" && !sample_.columns[column].is_number())
        throw core::field_error(field, "is no number", fmt::format("column '{}'", *name),
                                "numbers, yes/no or true/false");
      if (std::string_view(field) == "arm" && sample_.columns[column].labels.size() < 2)
        throw core::field_error(field, "cannot be the arm", fmt::format("column '{}'", *name),
                                "a column of 2 to 1000 values");
    }
  }

  void remark(const std::string& key, const RoleChoice& choice) {
    proposal_.remarks[key] = choice.is_sure ? choice.reason : "unsure: " + choice.reason;
    if (!choice.is_sure) proposal_.unsure[key] = choice.reason;
  }

  void take(std::size_t column) { evidence_.taken[column] = true; }

  void propose_arm() {
    arm_ = choose_arm(summary_, sample_, {hints_.arm, hints_.control});
    data::Study& study = proposal_.study;
    remark("columns.arm", {arm_.column, arm_.is_sure, arm_.reason});
    if (!arm_.column) return;
    if (hints_.control && std::find(arm_.labels.begin(), arm_.labels.end(), *hints_.control) == arm_.labels.end())
      throw core::field_error("control", "no such arm", fmt::format("'{}'", *hints_.control),
                              fmt::format("one of {}", fmt::join(arm_.labels, ", ")));
    take(*arm_.column);
    study.columns.arm = summary_.columns[*arm_.column].name;
    study.arms.control = arm_.control;
    remark("arms.control", {{}, arm_.control_is_sure, arm_.control_reason});
    if (arm_.is_graded) {
      study.arms.order = arm_.labels;
      proposal_.remarks["arms.order"] = "the arms from weakest to strongest, if they are graded";
    }
    std::string shares;
    for (const std::string& label : arm_.labels) {
      shares += fmt::format("{}\"{}\" = {:.3g}", shares.empty() ? "" : ", ", shown(label),
                            1.0 / static_cast<double>(arm_.labels.size()));
    }
    proposal_.remarks["arms.share"] =
        fmt::format("the designed shares, for example {{ {} }}; without them the sample ratio is not tested", shares);
  }

  // Id, time and cluster.
  void propose_names() {
    data::Study::Columns& columns = proposal_.study.columns;
    std::vector<bool> unique(sample_.columns.size());
    for (std::size_t i = 0; i < unique.size(); ++i) {
      const data::ColumnSummary& column = summary_.columns[i];
      unique[i] = column.looks_unique;
      if (evidence_.taken[i] || columns.time || name_score(column.name, Word::time) < 3) continue;
      columns.time = column.name;
      remark("columns.time", {i, false, "its name says so"});
      take(i);
    }
    propose_id();
    if (!arm_.column) return;
    const DrawGroups groups = find_draw_groups(sample_, arm_, unique);
    if (!groups.column) return;
    const std::string& name = summary_.columns[*groups.column].name;
    if (columns.time && columns.id == name) return;  // with a time, the id is the cluster anyway
    columns.cluster = name;
    const bool is_named = std::max(name_score(name, Word::cluster), name_score(name, Word::id)) > 0;
    remark("columns.cluster",
           {groups.column, is_named,
            fmt::format("its rows share their arm: {} groups of several rows, {:.1f} % of them mixed",
                        groups.num_groups, 100.0 * groups.mixed_share)});
    take(*groups.column);
    arm_.codes.group = sample_.columns[*groups.column].codes;
    std::uint32_t most = 0;
    for (const std::uint32_t code : arm_.codes.group) {
      if (code != data::SampledColumn::kMissing) most = std::max(most, code);
    }
    arm_.codes.num_groups = most + 1;
  }

  void propose_id() {
    data::Study::Columns& columns = proposal_.study.columns;
    int best = 0;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      const data::ColumnSummary& column = summary_.columns[i];
      if (evidence_.taken[i] || (column.is_number && !column.is_integer)) continue;
      const int name = name_score(column.name, Word::id);
      // A running number, or texts that never repeat, name the rows whatever they are called.
      const bool counts_rows =
          column.is_integer && column.high - column.low + 1.0 == static_cast<double>(summary_.rows);
      const bool is_name = column.looks_unique && (name >= 2 || counts_rows || !column.is_number);
      const bool comes_again = columns.time && name >= 2 && column.distinct_is_at_least;
      if ((!is_name && !comes_again) || (found && name <= best)) continue;
      best = name;
      found = i;
    }
    if (!found) {
      proposal_.remarks["columns.id"] = "none found: a unit is its row number";
      return;
    }
    columns.id = summary_.columns[*found].name;
    remark("columns.id", {found, best >= 2, best >= 2 ? "names the units" : "never repeats; its name does not say id"});
    take(*found);
  }

  void propose_missing() {
    std::vector<double>& codes = proposal_.study.columns.missing;
    codes = find_missing_codes(sample_, evidence_.taken);
    blank_codes(codes, evidence_.taken, sample_);
    if (!codes.empty()) proposal_.remarks["columns.missing"] = "far outside the other values of its columns";
  }

  // Sample weights and propensities.
  void propose_sampling() {
    data::Study::Columns& columns = proposal_.study.columns;
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      const data::SampledColumn& column = sample_.columns[i];
      if (evidence_.taken[i] || !column.is_number() || name_score(column.name, Word::before) > 0) continue;
      if (!columns.propensity && arm_.column && name_score(column.name, Word::propensity) > 0 &&
          is_propensity(column, arm_.codes)) {
        columns.propensity = column.name;
        remark("columns.propensity", {i, true, "of the arm received: its inverse is the number of arms on average"});
        take(i);
      } else if (!columns.weight && name_score(column.name, Word::weight) >= 2 && summary_.columns[i].low >= 0.0) {
        propose_weight(i);
      }
    }
  }

  // A "weight" may be that of a parcel: only a name of several words ("survey_weight") speaks for a sample weight.
  void propose_weight(std::size_t i) {
    const std::string& name = summary_.columns[i].name;
    bool is_sampling = false;
    for (const std::string& word : words_of(name)) {
      is_sampling = is_sampling || word == "sample" || word == "sampling" || word == "survey" || word == "design" ||
                    word == "gewichtung" || word == "ponderation";
    }
    if (!is_sampling) {
      remark("columns.weight", {{},
                                false,
                                fmt::format("'{}' is taken for a feature; if it says how many units a row "
                                            "stands for, name it here",
                                            shown(name))});
      return;
    }
    proposal_.study.columns.weight = name;
    remark("columns.weight", {i, false, "by its name; how many units a row stands for"});
    take(i);
  }

  void compare_arms() {
    evidence_.differences.resize(sample_.columns.size());
    if (!arm_.column) return;
    double tested = 0.0;
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      if (evidence_.taken[i]) continue;
      evidence_.differences[i] = arm_difference(sample_.columns[i], arm_.codes);
      tested += evidence_.differences[i].tested ? 1.0 : 0.0;
    }
    evidence_.num_tested = std::max(1.0, tested);
  }

  void propose_outcomes() {
    data::Study& study = proposal_.study;
    RoleChoice cost = hints_.cost ? RoleChoice{index_of("cost", *hints_.cost), true, "as you said"}
                                  : (arm_.control ? choose_cost(sample_, evidence_, arm_) : RoleChoice{});
    if (cost.column) take(*cost.column);
    const RoleChoice revenue = hints_.revenue ? RoleChoice{index_of("revenue", *hints_.revenue), true, "as you said"}
                                              : choose_revenue(sample_, evidence_);
    remark("columns.revenue", revenue);
    revenue_ = revenue.column;
    if (revenue_) {
      take(*revenue_);
      study.columns.revenue = summary_.columns[*revenue_].name;
      if (!cost.column && !propose_rates()) cost = choose_stand_in(sample_, evidence_, *revenue_);
    }
    propose_guardrails();
    cost_ = cost.column;
    if (cost_) {
      take(*cost_);
      study.columns.cost = summary_.columns[*cost_].name;
      remark("columns.cost", cost);
      remark_known_cost();
    } else if (study.arms.cost_per_revenue.empty()) {
      for (const std::string& label : arm_.labels) {
        if (label != arm_.control) study.arms.cost[label] = 1.0;
      }
      remark("arms.cost", {{},
                           false,
                           "no column is zero in control and not elsewhere: put the true cost of each arm here "
                           "(1 is a placeholder), or use cost_per_revenue"});
    }
  }

  void propose_guardrails() {
    std::string reasons;
    std::string doubtful;
    for (const RoleChoice& choice : choose_guardrails(sample_, evidence_, revenue_)) {
      const std::string& name = summary_.columns[*choice.column].name;
      proposal_.study.columns.guardrails.push_back(name);
      take(*choice.column);
      reasons += fmt::format("\n{}{}: {}", choice.is_sure ? "" : "unsure: ", shown(name), choice.reason);
      if (!choice.is_sure)
        doubtful += fmt::format("{}{} ({})", doubtful.empty() ? "" : "; ", shown(name), choice.reason);
    }
    const std::vector<std::string>& guardrails = proposal_.study.columns.guardrails;
    if (guardrails.empty()) return;
    proposal_.remarks["columns.guardrails"] = "outcomes of which more is a loss; reported, never optimised:" + reasons;
    if (!doubtful.empty()) proposal_.unsure["columns.guardrails"] = doubtful;
    if (revenue_) return;
    remark("columns.revenue",
           {{},
            false,
            fmt::format("not found: more of '{}' is a loss. Make a column of what is kept (1 - {}, in money "
                        "if you can) and name it here",
                        shown(guardrails.front()), shown(guardrails.front()))});
  }

  // "match_ratio" 2: two units of cost for each unit of revenue.
  bool propose_rates() {
    if (!arm_.column || !arm_.control || arm_.labels.empty()) return false;
    double scale = 0.0;
    for (const std::string& word : words_of(summary_.columns[*arm_.column].name)) {
      if (word == "ratio" || word == "match" || word == "rate") scale = std::max(scale, 1.0);
      if (word == "percent" || word == "pct") scale = 0.01;
    }
    if (scale == 0.0) return false;
    std::map<std::string, double> rates;
    for (const std::string& label : arm_.labels) {
      char* end = nullptr;
      const double value = std::strtod(label.c_str(), &end);
      if (end == label.c_str() || !std::isfinite(value) || value < 0.0) return false;
      if (label != arm_.control) rates[label] = scale * value;
    }
    proposal_.study.arms.cost_per_revenue = rates;
    remark("arms.cost_per_revenue", {{}, false, "no cost column found, and the arm's name says a rate of the revenue"});
    return true;
  }

  void remark_known_cost() {
    if (!arm_.column || !arm_.control || !revenue_) return;
    const std::vector<double> rates = exact_rates(sample_, arm_, *revenue_, *cost_);
    std::string known;
    for (std::size_t arm = 0; arm < rates.size(); ++arm) {
      known += fmt::format("{}\"{}\" = {}", known.empty() ? "" : ", ", shown(arm_.labels[arm]), rates[arm]);
    }
    if (!known.empty()) {
      proposal_.remarks["arms.cost_per_revenue"] =
          fmt::format("{{ {} }} is the cost exactly: given here instead of the column, it is never learned", known);
      return;
    }
    const ArmDifference difference = arm_difference(sample_.columns[*cost_], arm_.codes);
    if (!difference.is_function_of_arm) return;
    for (std::size_t arm = 0; arm < difference.mean.size(); ++arm) {
      known += fmt::format("{}\"{}\" = {}", known.empty() ? "" : ", ", shown(arm_.labels[arm]), difference.mean[arm]);
    }
    proposal_.remarks["arms.cost"] =
        fmt::format("{{ {} }} is the cost exactly: given here instead of the column, it is never learned", known);
  }

  void propose_features() {
    if (!arm_.column) return;
    const Leaks leaks = find_leaks(summary_, sample_, evidence_, arm_, revenue_);
    std::string reasons;
    std::string doubtful;
    for (const LeftOut& left_out : leaks.left_out) {
      const std::string name = shown(summary_.columns[left_out.column].name);
      proposal_.study.columns.exclude.push_back(summary_.columns[left_out.column].name);
      take(left_out.column);
      reasons += fmt::format("\n{}{}: {}", left_out.is_sure ? "" : "unsure: ", name, left_out.reason);
      if (!left_out.is_sure) doubtful += fmt::format("{}{} ({})", doubtful.empty() ? "" : "; ", name, left_out.reason);
    }
    if (!reasons.empty()) proposal_.remarks["columns.exclude"] = "never features, each for its reason:" + reasons;
    if (!doubtful.empty()) proposal_.unsure["columns.exclude"] = doubtful;
    if (leaks.imbalanced.empty()) return;
    std::string kept;
    for (const std::size_t column : leaks.imbalanced) {
      kept += fmt::format("{}{} ({:.3f})", kept.empty() ? "" : ", ", shown(summary_.columns[column].name),
                          std::fabs(evidence_.differences[column].effect));
    }
    remark("columns.features", {{},
                                false,
                                "kept, though they differ a little between the arms (standard deviations); "
                                "exclude those measured after: " +
                                    kept});
  }

  void propose_categories() {
    std::vector<std::string>& categorical = proposal_.study.columns.categorical;
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      const data::ColumnSummary& column = summary_.columns[i];
      if (evidence_.taken[i] || !column.is_integer || column.distinct < 3 || column.distinct > 200) continue;
      for (const std::string& word : words_of(column.name)) {
        static const std::vector<std::string> codes = {"city",     "zip",    "code",    "type",
                                                       "category", "region", "channel", "state"};
        if (std::find(codes.begin(), codes.end(), word) == codes.end()) continue;
        categorical.push_back(column.name);
        break;
      }
    }
    if (!categorical.empty())
      remark("columns.categorical",
             {{}, false, "whole numbers whose names say codes; text columns are categorical anyway"});
  }

  void propose_budgets() {
    data::Study& study = proposal_.study;
    study.cost.control_is_free = !study.columns.cost || control_is_free();
    proposal_.remarks["cost.control_is_free"] =
        study.columns.cost && study.cost.control_is_free ? "so it is in this trial" : "say what you know to be true";
    study.cost.non_negative = cost_is_non_negative();
    proposal_.remarks["cost.non_negative"] = study.cost.non_negative
                                                 ? "so it is in this trial: no unit's cost is below zero"
                                                 : "no unit's cost is below zero";
    if (!study.arms.order.empty()) proposal_.remarks["cost.rises_with_arm"] = "a stronger arm never costs less";
    study.budgets.share_of_max.assign(std::begin(kBudgetShares), std::end(kBudgetShares));
    const std::string what = "shares of what the costliest arm costs above control; or per_unit, or total";
    const std::optional<double> most = largest_cost();
    if (most && *most <= 0.0) {
      remark("budgets.share_of_max",
             {{}, false, "no arm costs more than control here: no budget can bind. Is this the cost?"});
    } else if (most) {
      proposal_.remarks["budgets.share_of_max"] =
          fmt::format("{}. Here {:.4g}, {:.4g} and {:.4g} per unit", what, kBudgetShares[0] * *most,
                      kBudgetShares[1] * *most, kBudgetShares[2] * *most);
    } else {
      proposal_.remarks["budgets.share_of_max"] = what;
    }
    proposal_.remarks["split.by"] = !study.columns.time ? "or \"time\", or a column that says train, validation or test"
                                                        : "\"time\" trains on the earlier rows and tests on the later";
  }

  bool control_is_free() const {
    return arm_.control && arm_difference(sample_.columns[*cost_], arm_.codes).zero_in_control;
  }

  // Of every row: of a column, or of rates of the revenue.
  bool cost_is_non_negative() const {
    const std::optional<std::size_t> column = cost_ ? cost_ : revenue_;
    if (!column || (!cost_ && proposal_.study.arms.cost_per_revenue.empty())) return false;
    return summary_.columns[*column].is_number ? summary_.columns[*column].low >= 0.0
                                               : negative_share(sample_.columns[*column]) == 0.0;
  }

  // Of an arm above control, per unit; none where costs are not in a column.
  std::optional<double> largest_cost() const {
    if (!cost_ || !arm_.control) return std::nullopt;
    const std::vector<double> means = arm_difference(sample_.columns[*cost_], arm_.codes).mean;
    if (means.empty()) return std::nullopt;
    return *std::max_element(means.begin(), means.end()) - means[arm_.codes.control];
  }

  const data::TableSummary& summary_;
  data::TableSample sample_;
  const StudyHints& hints_;
  StudyProposal proposal_;
  ArmChoice arm_;
  ColumnEvidence evidence_;
  std::optional<std::size_t> revenue_;
  std::optional<std::size_t> cost_;
};

}  // namespace

StudyProposal propose_study(const data::TableSummary& summary, data::TableSample sample, const StudyHints& hints) {
  return Proposer(summary, std::move(sample), hints).propose();
}

}  // namespace dfcl::check
