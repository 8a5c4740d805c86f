// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "dfcl/report/check/check_report.h"

namespace dfcl::report {
namespace {

using Json = nlohmann::ordered_json;

Json interval_json(const check::Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json difference_json(const std::optional<check::Difference>& difference) {
  if (!difference) return nullptr;
  Json json = interval_json(difference->interval);
  json["p"] = difference->p;
  return json;
}

Json arm_json(const check::ArmSummary& arm, const std::string& control, bool clusters) {
  Json json = {{"arm", arm.label}, {"control", arm.label == control}, {"units", arm.num_units}};
  if (clusters) json["clusters"] = arm.num_clusters;
  json["share"] = arm.share;
  json["designed_share"] = arm.designed_share ? Json(*arm.designed_share) : Json(nullptr);
  json["revenue"] = interval_json(arm.revenue);
  json["cost"] = interval_json(arm.cost);
  json["revenue_difference"] = difference_json(arm.revenue_difference);
  json["cost_difference"] = difference_json(arm.cost_difference);
  json["units_with_revenue"] = arm.num_with_revenue;
  return json;
}

Json sample_ratio_json(const check::SampleRatio& ratio) {
  if (!ratio.run) return {{"run", false}, {"why_not", ratio.why_not}, {"observed", ratio.observed}};
  Json json = {{"run", true},
               {"observed", ratio.observed},
               {"expected", ratio.expected},
               {"chi_square", ratio.chi_square},
               {"degrees", ratio.degrees},
               {"p", ratio.p}};
  if (ratio.times.empty()) return json;
  json["pooled"] =
      ratio.pooled_run
          ? Json{{"chi_square", ratio.pooled_chi_square}, {"degrees", ratio.pooled_degrees}, {"p", ratio.pooled_p}}
          : Json(nullptr);
  json["times"] = Json::array();
  for (const check::SampleRatioTime& time : ratio.times) {
    json["times"].push_back({{"time", time.time},
                             {"draws", time.num_draws},
                             {"chi_square", time.chi_square},
                             {"p", time.p},
                             {"reliable", time.reliable}});
  }
  return json;
}

Json balance_json(const check::Balance& balance) {
  Json json = {{"run", balance.run}};
  if (!balance.run) {
    json["why_not"] = balance.why_not;
  } else {
    const bool joint = balance.method == check::BalanceMethod::joint;
    json["method"] = joint ? "joint" : "smallest_p";
    json["statistic"] = joint ? Json(balance.statistic) : Json(nullptr);
    json["degrees"] = joint ? Json(balance.degrees) : Json(nullptr);
    json["p"] = balance.p;
    json["smallest_p"] = balance.smallest_p;
    json["columns"] = balance.num_columns;
  }
  json["features"] = Json::array();
  for (const check::FeatureBalance& feature : balance.features) {
    json["features"].push_back({{"name", feature.name},
                                {"tested", feature.tested},
                                {"difference", feature.difference},
                                {"arm", feature.arm},
                                {"what", feature.what},
                                {"p", feature.p}});
  }
  return json;
}

Json findings_json(const std::vector<check::Finding>& findings) {
  Json json = Json::array();
  for (const check::Finding& finding : findings) {
    json.push_back({{"kind", finding.kind}, {"text", finding.text}, {"hint", finding.hint}});
  }
  return json;
}

Json columns_json(const check::CheckResult& result) {
  Json json = Json::array();
  for (const check::ColumnSummary& column : result.columns) {
    Json per_arm = Json::object();
    for (std::size_t arm = 0; arm < result.arms.size(); ++arm) {
      per_arm[result.arms[arm].label] = column.missing_share_per_arm[arm];
    }
    json.push_back({{"name", column.name},
                    {"categorical", column.categorical},
                    {"missing_share", column.missing_share},
                    {"missing_share_per_arm", per_arm},
                    {"constant", column.constant}});
  }
  return json;
}

}  // namespace

std::string check_json(const check::CheckResult& result) {
  Json json = {{"verdict", result.fit ? "fit" : "unfit"},
               {"problems", findings_json(result.problems)},
               {"warnings", findings_json(result.warnings)},
               {"units", result.num_units},
               {"features", result.num_features},
               {"clusters", result.num_clusters},
               {"times", result.num_times},
               {"control", result.control},
               {"drawn_by", check::to_text(result.drawn)},
               {"draws", result.num_draws},
               {"mixed_groups", result.num_mixed_groups},
               {"weighted", result.weighted}};
  json["arms"] = Json::array();
  for (const check::ArmSummary& arm : result.arms) {
    json["arms"].push_back(arm_json(arm, result.control, result.num_clusters > 0));
  }
  json["sample_ratio"] = sample_ratio_json(result.sample_ratio);
  json["balance"] = balance_json(result.balance);
  json["columns"] = columns_json(result);
  json["duplicates"] = {{"key", result.duplicates.key},
                        {"ids", result.duplicates.num_ids},
                        {"rows", result.duplicates.num_rows},
                        {"ids_in_two_arms", result.duplicates.num_in_two_arms},
                        {"examples", result.duplicates.examples}};
  json["suspects"] = Json::array();
  for (const check::Suspect& suspect : result.suspects) {
    json["suspects"].push_back({{"name", suspect.name}, {"why", suspect.why}, {"hint", suspect.hint}});
  }
  json["notes"] = result.notes;
  // Labels from a file may hold bytes that are no UTF-8; JSON must.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report
