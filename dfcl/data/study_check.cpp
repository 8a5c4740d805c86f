// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/study_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"

namespace dfcl::data {
namespace {

class StudyCheck {
 public:
  StudyCheck(const Study& study, const std::string& where) : study_(study), where_(where) {}

  void run(bool needs_trial) const {
    if (needs_trial) require("data.trial", study_.data.trial.value_or(""));
    require("columns.arm", study_.columns.arm);
    require("columns.revenue", study_.columns.revenue);
    check_costs();
    check_value();
    check_shares();
    check_arms();
    check_network();
    check_report();
  }

 private:
  core::Error error(const char* field, std::string what, std::string found = "", std::string expected = "",
                    std::string hint = "") const {
    return core::usage_error(where_, std::move(what), std::move(found), std::move(expected), std::move(hint), field);
  }

  void require(const char* field, const std::string& value) const {
    if (value.empty())
      throw error(field, "is not set", "", "", "see docs/study.md, or start from `dfcl init TRIAL -o study.toml`");
  }

  void check_costs() const {
    const int ways = (study_.columns.cost ? 1 : 0) + (study_.arms.cost.empty() ? 0 : 1) +
                     (study_.arms.cost_per_revenue.empty() ? 0 : 1);
    if (ways != 1)
      throw error("", "the cost must be said in one way", fmt::format("{} ways", ways),
                  "one of [columns] cost, [arms] cost and [arms] cost_per_revenue");
    if (study_.columns.cost_if && study_.arms.cost.empty())
      throw error("columns.cost_if", "needs prices", "", "[arms] cost: what is paid where it happens");
    if (study_.columns.winsorize.contains("cost") && !study_.columns.cost)
      throw error("columns.winsorize", "cannot cut costs that are known", "cost", "revenue");
  }

  void check_value() const {
    if (study_.value.margin && study_.value.per_revenue)
      throw error("value.per_revenue", "what revenue is worth must be said in one way", "margin and per_revenue",
                  "one of them", "`margin` is for revenue in money, `per_revenue` for anything that is counted");
  }

  void check_shares() const {
    const Study::Split& split = study_.split;
    const double total = split.train + split.validation + split.test;
    if (std::abs(total - 1.0) > 1e-6)
      throw error("", "[split] the shares do not add up", fmt::format("{}", total), "train + validation + test = 1");
    if (study_.arms.share.empty()) return;
    double designed = 0.0;
    for (const auto& [arm, share] : study_.arms.share) designed += share;
    if (std::abs(designed - 1.0) > 1e-6)
      throw error("arms.share", "the shares do not add up", fmt::format("{}", designed), "1 over all arms");
  }

  void check_arms() const {
    const Study::Arms& arms = study_.arms;
    if (arms.order.empty()) return;
    if (std::set<std::string>(arms.order.begin(), arms.order.end()).size() != arms.order.size())
      throw error("arms.order", "an arm stands twice");
    if (arms.control) require_arm("arms.control", *arms.control);
    for (const auto& [arm, value] : arms.share) require_arm("arms.share", arm);
    for (const auto& [arm, value] : arms.cost) require_arm("arms.cost", arm);
    for (const auto& [arm, value] : arms.cost_per_revenue) require_arm("arms.cost_per_revenue", arm);
    if (!arms.share.empty() && arms.share.size() != arms.order.size())
      throw error("arms.share", "shares for some arms only", fmt::format("{}", arms.share.size()),
                  fmt::format("all {} arms", arms.order.size()));
  }

  void require_arm(const char* field, const std::string& arm) const {
    const std::vector<std::string>& order = study_.arms.order;
    if (std::find(order.begin(), order.end(), arm) == order.end())
      throw error(field, fmt::format("arm '{}' is not in [arms] order", arm), "", "", core::suggest(arm, order));
  }

  void check_network() const {
    const Study::Network& network = study_.network;
    if (!network.hidden.empty() && !(network.shared.empty() && network.heads.empty()))
      throw error("network.hidden", "a network has one trunk or heads", "both", "hidden, or shared and heads",
                  "`hidden = []` takes it back");
  }

  void check_report() const {
    const Study::Report& report = study_.report;
    if (report.decimal == report.thousands)
      throw error("report.decimal", "numbers could not be read",
                  fmt::format("decimal '{}', thousands '{}'", report.decimal, report.thousands),
                  "a decimal sign that is not the sign between thousands");
  }

  const Study& study_;
  const std::string& where_;
};

}  // namespace

void check_study(const Study& study, const std::string& where, bool needs_trial) {
  StudyCheck(study, where).run(needs_trial);
}

}  // namespace dfcl::data
