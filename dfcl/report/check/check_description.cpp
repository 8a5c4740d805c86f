// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/check/check_description.h"

namespace dfcl::report {

using check::Balance;
using check::CheckResult;
using check::Difference;
using check::Duplicates;
using check::FeatureBalance;
using check::Finding;
using check::SampleRatio;
using check::SampleRatioTime;
using check::Suspect;

namespace {

struct CheckedArm : check::ArmSummary {
  bool is_control = false;
  std::optional<std::size_t> clusters = {};
};

struct CheckedColumn {
  std::string name;
  bool categorical = false;
  double missing_share = 0.0;
  Keyed<double> missing_share_per_arm;
  bool constant = false;
};

std::vector<CheckedArm> checked_arms(const CheckResult& result) {
  std::vector<CheckedArm> arms;
  for (const check::ArmSummary& arm : result.arms) {
    arms.push_back(
        {arm, arm.label == result.control, result.num_clusters > 0 ? std::optional(arm.num_clusters) : std::nullopt});
  }
  return arms;
}

std::vector<CheckedColumn> checked_columns(const CheckResult& result) {
  std::vector<CheckedColumn> columns;
  for (const check::ColumnSummary& column : result.columns) {
    columns.push_back({column.name, column.categorical, column.missing_share, {}, column.constant});
    for (std::size_t arm = 0; arm < result.arms.size(); ++arm) {
      columns.back().missing_share_per_arm.items.emplace_back(result.arms[arm].label,
                                                              column.missing_share_per_arm[arm]);
    }
  }
  return columns;
}

// A field that is there only where the test was run.
template <class Test, class V>
auto where_run(V Test::*member) {
  return [member](const Test& test) { return test.run ? std::optional<V>(test.*member) : std::nullopt; };
}

template <class Test>
std::optional<std::string> why_not(const Test& test) {
  return test.run ? std::nullopt : std::optional(test.why_not);
}

struct PooledRatio {
  double chi_square = 0.0;
  double degrees = 0.0;
  double p = 1.0;
};

// Absent without times; null where they share their draws.
std::optional<std::optional<PooledRatio>> pooled_ratio(const SampleRatio& ratio) {
  if (!ratio.run || ratio.times.empty()) return std::nullopt;
  std::optional<PooledRatio> pooled;
  if (ratio.pooled_run) pooled = {ratio.pooled_chi_square, ratio.pooled_degrees, ratio.pooled_p};
  return std::optional(pooled);
}

std::optional<std::vector<SampleRatioTime>> ratio_times(const SampleRatio& ratio) {
  return ratio.run && !ratio.times.empty() ? std::optional(ratio.times) : std::nullopt;
}

// Of the joint statistic: absent where nothing was tested, null where another method was used.
auto joint_only(double Balance::*member) {
  return [member](const Balance& balance) -> std::optional<std::optional<double>> {
    if (!balance.run) return std::nullopt;
    const bool joint = balance.method == check::BalanceMethod::joint;
    return std::optional(joint ? std::optional(balance.*member) : std::nullopt);
  };
}

}  // namespace

static const Described<Finding>& description(Of<Finding>) {
  static const auto finding = Described<Finding>("Finding", "A problem or a warning.")
                                  .field("kind", &Finding::kind, "one word for programs")
                                  .field("text", &Finding::text, "what was found")
                                  .field("hint", &Finding::hint, "what to do about it");
  return finding;
}

static const Described<Difference>& description(Of<Difference>) {
  static const auto difference =
      Described<Difference>("ArmDifference", "An arm's mean minus control's.")
          .field("value", [](const Difference& one) { return one.interval.value; }, {"the difference", kPerUnit})
          .field("low", [](const Difference& one) { return one.interval.low; }, {"lower end, 95 %", kPerUnit})
          .field("high", [](const Difference& one) { return one.interval.high; }, {"upper end, 95 %", kPerUnit})
          .field("p", &Difference::p, "of no difference");
  return difference;
}

static const Described<CheckedArm>& description(Of<CheckedArm>) {
  using A = CheckedArm;
  static const auto arm =
      Described<A>("CheckArm", "An arm of the trial.")
          .field("arm", &A::label, "label")
          .field("control", &A::is_control, "true for control")
          .field("units", &A::num_units, {"how many", kUnits})
          .maybe("clusters", &A::clusters, "with units in this arm; where clusters are declared")
          .for_programs()
          .field("share", &A::share, {"of the units", kShare})
          .field("designed_share", &A::designed_share, {"null where the study does not say it", kShare})
          .field("revenue", &A::revenue, {"mean, 95 %", kPerUnit})
          .field("cost", &A::cost, {"mean, 95 %", kPerUnit})
          .field("revenue_difference", &A::revenue_difference, {"from control; null for control", kPerUnit})
          .field("cost_difference", &A::cost_difference, {"from control; null for control", kPerUnit})
          .field("units_with_revenue", &A::num_with_revenue, {"whose revenue is not 0", kUnits})
          .for_programs();
  return arm;
}

static const Described<PooledRatio>& description(Of<PooledRatio>) {
  static const auto pooled = Described<PooledRatio>("PooledRatio", "The sample ratios of the times, added up.")
                                 .field("chi_square", &PooledRatio::chi_square, "statistic")
                                 .field("degrees", &PooledRatio::degrees, "of freedom")
                                 .field("p", &PooledRatio::p, "of the designed shares");
  return pooled;
}

static const Described<SampleRatioTime>& description(Of<SampleRatioTime>) {
  using R = SampleRatioTime;
  static const auto time = Described<R>("TimeRatio", "The sample ratio at one time.")
                               .field("time", &R::time, "the time")
                               .field("draws", &R::num_draws, "how many")
                               .field("chi_square", &R::chi_square, "statistic")
                               .field("p", &R::p, "of the designed shares")
                               .field("reliable", &R::reliable, "false where p is a rough guide only");
  return time;
}

static const Described<SampleRatio>& description(Of<SampleRatio>) {
  using R = SampleRatio;
  static const auto ratio = Described<R>("SampleRatio", "Are the arms as large as designed?")
                                .field("run", &R::run, "false: not tested")
                                .maybe("why_not", why_not<R>, "why it was not tested")
                                .field("observed", &R::observed, "draws by arm")
                                .for_programs()
                                .maybe("expected", where_run(&R::expected), "draws by arm")
                                .for_programs()
                                .maybe("chi_square", where_run(&R::chi_square), "statistic")
                                .maybe("degrees", where_run(&R::degrees), "of freedom")
                                .maybe("p", where_run(&R::p), "of the designed shares")
                                .maybe("pooled", pooled_ratio, "within times, where each has draws of its own")
                                .for_programs()
                                .maybe("times", ratio_times, "time by time")
                                .for_programs();
  return ratio;
}

static const Described<FeatureBalance>& description(Of<FeatureBalance>) {
  using F = FeatureBalance;
  static const auto feature =
      Described<F>("FeatureBalance", "A feature, compared between arms.")
          .field("name", &F::name, "its name")
          .field("tested", &F::tested, "false where too few units differ from the rest")
          .for_programs()
          .field("difference", &F::difference, "largest standardised mean difference from control")
          .field("arm", &F::arm, "where it is largest")
          .field("what", &F::what, "which aspect of the feature: `value`, `missing` or `= level`")
          .for_programs()
          .field("p", &F::p, "of no difference between any arms, for this feature alone");
  return feature;
}

static const Described<Balance>& description(Of<Balance>) {
  static const auto method = [](const Balance& balance) {
    return balance.method == check::BalanceMethod::joint ? "joint" : "smallest_p";
  };
  static const auto balance =
      Described<Balance>("Balance", "Are the features alike in all arms?")
          .field("run", &Balance::run, "false: not tested")
          .maybe("why_not", why_not<Balance>, "why it was not tested")
          .maybe(
              "method",
              [](const Balance& one) { return one.run ? std::optional<std::string>(method(one)) : std::nullopt; },
              "`joint`: one statistic; `smallest_p`: the worst feature, corrected for their number")
          .for_programs()
          .maybe("statistic", joint_only(&Balance::statistic), "of the joint test")
          .for_programs()
          .maybe("degrees", joint_only(&Balance::degrees), "of freedom, of the joint test")
          .for_programs()
          .maybe("p", where_run(&Balance::p), "of all features together")
          .maybe("smallest_p", where_run(&Balance::smallest_p), "of one feature, times their number")
          .for_programs()
          .maybe("columns", where_run(&Balance::num_columns), "numeric columns that the features were turned into")
          .field("features", &Balance::features, "in the trial's order");
  return balance;
}

static const Described<CheckedColumn>& description(Of<CheckedColumn>) {
  using C = CheckedColumn;
  static const auto column = Described<C>("FeatureColumn", "A feature column.")
                                 .field("name", &C::name, "its name")
                                 .field("categorical", &C::categorical, "a category, not a number")
                                 .field("missing_share", &C::missing_share, {"of the units", kShare})
                                 .field("missing_share_per_arm", &C::missing_share_per_arm, {"of its units", kShare})
                                 .field("constant", &C::constant, "one value everywhere, or none at all");
  return column;
}

static const Described<check::GuardrailSummary>& description(Of<check::GuardrailSummary>) {
  using G = check::GuardrailSummary;
  static const auto guardrail = Described<G>("CheckedGuardrail", "A further outcome, of which more is worse.")
                                    .field("name", &G::name, "its column")
                                    .field("mean_per_arm", &G::mean, {"by arm of the trial", kPerUnit});
  return guardrail;
}

static const Described<Duplicates>& description(Of<Duplicates>) {
  using D = Duplicates;
  static const auto duplicates = Described<D>("Duplicates", "Ids that stand more than once.")
                                     .field("key", &D::key, "`id` or `id and time`; empty without an id column")
                                     .field("ids", &D::num_ids, "that occur more than once")
                                     .field("rows", &D::num_rows, "beyond the first of their id")
                                     .field("ids_in_two_arms", &D::num_in_two_arms, "with more than one arm")
                                     .field("examples", &D::examples, "some of them");
  return duplicates;
}

static const Described<Suspect>& description(Of<Suspect>) {
  static const auto suspect =
      Described<Suspect>("Suspect", "A feature that tells the arm or the revenue.")
          .field("name", &Suspect::name, "its name")
          .field_as(
              "tells", choice_schema({"arm", "revenue"}),
              [](const Suspect& one) { return one.of == check::SuspectOf::arm ? "arm" : "revenue"; }, "what it tells")
          .field("why", &Suspect::why, "what it looks like")
          .field("hint", &Suspect::hint, "what to do about it");
  return suspect;
}

const Described<CheckResult>& description(Of<CheckResult>) {
  using R = CheckResult;
  static const auto result =
      Described<R>("Check", "Is the trial fit to learn from? The whole of what `dfcl check --json` prints.")
          .field_as(
              "verdict", choice_schema({"fit", "unfit"}), [](const R& one) { return one.fit ? "fit" : "unfit"; },
              "the answer")
          .field_as(
              "grade", choice_schema({"balanced", "adjustable", "unfit"}),
              [](const R& one) { return check::to_text(one.grade); },
              "`adjustable`: imbalanced by less than 0.1 standard deviations, with the sample ratio in order")
          .for_programs()
          .field("largest_difference", &R::largest_difference,
                 "of a feature between an arm and control, in standard deviations")
          .for_programs()
          .field("problems", &R::problems, "each makes the trial unfit")
          .field("warnings", &R::warnings, "none makes it unfit")
          .field("units", &R::num_units, {"how many", kUnits})
          .for_programs()
          .field("features", &R::num_features, "how many")
          .for_programs()
          .field("clusters", &R::num_clusters, "how many; 0 where none are declared")
          .for_programs()
          .field("times", &R::num_times, "how many; 0 where none are declared")
          .for_programs()
          .field("control", &R::control, "label of the control arm")
          .for_programs()
          .field(
              "drawn_by", [](const R& one) { return check::to_text(one.drawn); },
              "what received its arm in one draw, as far as the data show it")
          .for_programs()
          .field("draws", &R::num_draws, "how many")
          .for_programs()
          .field("mixed_groups", &R::num_mixed_groups, "clusters that hold more than one arm")
          .for_programs()
          .field("weighted", &R::weighted, "means are weighted by 1 / propensity")
          .for_programs()
          .maybe(
              "sample_weights",
              [](const R& one) { return one.has_sample_weights ? std::optional(true) : std::nullopt; },
              "means and balance are by sample weight; units and shares are rows")
          .for_programs()
          .maybe(
              "guardrails",
              [](const R& one) { return one.guardrails.empty() ? std::nullopt : std::optional(one.guardrails); },
              "further outcomes, where the study names any")
          .for_programs()
          .field("arms", checked_arms, "the arms")
          .field("sample_ratio", &R::sample_ratio, "are the arms as large as designed?")
          .field("balance", &R::balance, "are the features alike in all arms?")
          .field("columns", checked_columns, "the feature columns")
          .for_programs()
          .field("duplicates", &R::duplicates, "ids that stand more than once")
          .for_programs()
          .field("suspects", &R::suspects, "features that tell the arm or the revenue")
          .for_programs()
          .field("notes", &R::notes, "what reading the trial did");
  return result;
}

}  // namespace dfcl::report
