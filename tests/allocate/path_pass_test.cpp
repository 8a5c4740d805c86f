// SPDX-License-Identifier: Apache-2.0
//
// Units that are cut into parts, as those of many machines are: what passes find in the parts merges into the plan of
// one machine, and bytes from elsewhere are hostile.
#include "dfcl/allocate/path_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

// The rows of an instance, dealt to parts in any order.
class Dealt {
 public:
  Dealt(const Instance& instance, std::size_t num_parts, core::RandomStream& stream)
      : instance_(instance), rules_(instance.options.rules), prices_(rules_) {
    const std::size_t units = instance.revenue.rows();
    for (std::size_t unit = 0; unit < units; ++unit) keys_.push_back(core::mix_bits(unit));
    std::vector<std::size_t> part_of(units);
    const bool skewed = stream.bernoulli(0.5);  // one part has most units, some have none
    for (std::size_t unit = 0; unit < units; ++unit) {
      part_of[unit] = skewed && !stream.bernoulli(0.1) ? 0 : stream.below(static_cast<std::uint32_t>(num_parts));
    }
    for (std::size_t part = 0; part < num_parts; ++part) {
      std::vector<std::size_t> rows;
      for (std::size_t unit = units; unit-- > 0;) {
        if (part_of[unit] == part) rows.push_back(unit);
      }
      parts_.push_back(std::move(rows));
    }
  }

  // The findings of all parts, merged in the order given.
  std::string run(const std::string& bytes, const std::vector<std::size_t>& order) {
    ++passes;
    const PathPass pass = PathPass::from_bytes(bytes);
    EXPECT_EQ(pass.to_bytes(), bytes);
    PassPart merged(pass, rules_, prices_, instance_.revenue.cols());
    for (const std::size_t part : order) {
      PassPart found(pass, rules_, prices_, instance_.revenue.cols());
      with_units(parts_[part], [&](const Units& units) { found.add(units, 0, units.size()); });
      const std::string sent = found.to_bytes();
      // A sample is taken of few units; here it is of all.
      if (pass.kind() != PathPass::Kind::sample) most_sent = std::max(most_sent, sent.size());
      merged.merge_bytes(sent);
    }
    return merged.to_bytes();
  }
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order(parts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  PassRunner runner() {
    return [this](const std::string& bytes) {
      std::vector<std::size_t> order = in_order();
      const std::string found = run(bytes, order);
      std::reverse(order.begin(), order.end());
      EXPECT_EQ(found, run(bytes, order));
      --passes;
      return found;
    };
  }
  // The arms of all units, each part on its own from the bytes of the cut.
  std::vector<std::uint8_t> assign_parts(const PathCut& cut, core::RunContext& context) const {
    std::vector<std::uint8_t> arms(instance_.revenue.rows());
    for (const std::vector<std::size_t>& rows : parts_) {
      with_units(rows, [&](const Units& units) {
        std::vector<std::uint8_t> found(units.size());
        assign(units, rules_, PathCut::from_bytes(cut.to_bytes(), instance_.revenue.cols()), found.data(), context);
        for (std::size_t i = 0; i < rows.size(); ++i) arms[rows[i]] = found[i];
      });
    }
    return arms;
  }
  Problem problem() const {
    Problem problem = instance_.problem();
    problem.keys = keys_;
    return problem;
  }

  int passes = 0;
  std::size_t most_sent = 0;

 private:
  template <class Body>
  void with_units(const std::vector<std::size_t>& rows, Body&& body) const {
    const std::size_t arms = instance_.revenue.cols();
    core::Matrix<float> revenue(rows.size(), arms);
    core::Matrix<float> cost(rows.size(), arms);
    core::Matrix<std::uint8_t> eligible(instance_.eligible.rows() > 0 ? rows.size() : 0, arms);
    std::vector<std::uint64_t> keys;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t arm = 0; arm < arms; ++arm) {
        revenue(i, arm) = instance_.revenue(rows[i], arm);
        cost(i, arm) = instance_.cost(rows[i], arm);
        if (eligible.rows() > 0) eligible(i, arm) = instance_.eligible(rows[i], arm);
      }
      keys.push_back(keys_[rows[i]]);
    }
    Units units{std::as_const(revenue).view(), std::as_const(cost).view(), {}, 0, keys};
    if (eligible.rows() > 0) units.eligible = std::as_const(eligible).view();
    body(units);
  }

  const Instance& instance_;
  Rules rules_;
  Prices prices_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::vector<std::size_t>> parts_;
};

void expect_same(const Solution& elsewhere, const Solution& here) {
  EXPECT_EQ(elsewhere.status, here.status);
  EXPECT_EQ(elsewhere.value, here.value);
  EXPECT_EQ(elsewhere.revenue, here.revenue);
  EXPECT_EQ(elsewhere.spend, here.spend);
  EXPECT_EQ(elsewhere.bound, here.bound);
  EXPECT_EQ(elsewhere.gap, here.gap);
  EXPECT_EQ(elsewhere.multiplier, here.multiplier);
  EXPECT_EQ(elsewhere.least_spend, here.least_spend);
  EXPECT_EQ(elsewhere.control_revenue, here.control_revenue);
  EXPECT_EQ(elsewhere.control_cost, here.control_cost);
  EXPECT_EQ(elsewhere.units_per_arm, here.units_per_arm);
  EXPECT_EQ(elsewhere.binding, here.binding);
}

void expect_same_plan(const Instance& instance, Dealt& dealt, double budget) {
  core::RunContext context(2);
  PlanPath elsewhere(dealt.runner(), instance.revenue.cols(), instance.options.rules);
  const PathPlan plan = elsewhere.at_budget(budget, context);
  const Solution here = allocate(dealt.problem(), budget, context);
  expect_same(plan.summary, here);
  if (!here.has_plan()) return;
  EXPECT_EQ(dealt.assign_parts(plan.cut, context), here.arm);
}

TEST(PathPass, GivesThePlanOfOneMachineForAnyCutOfTheUnits) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    core::RandomStream stream(2207, core::stream_purpose("path pass test"), i);
    Instance instance = small_instance(stream);
    if (i % 5 == 0) instance = smooth_instance(2 + stream.below(400), 1 + stream.below(6), i);
    if (i % 3 == 0) add_eligibility(instance, stream);
    if (i % 4 == 0) instance.options.rules = {.objective = Objective::profit, .margin = 0.5};
    if (i % 4 == 1) instance.options.rules.min_roi = 1.0;
    SCOPED_TRACE(testing::Message() << "seed 2207, instance " << i);
    Dealt dealt(instance, 1 + stream.below(64), stream);
    expect_same_plan(instance, dealt, static_cast<double>(stream.below(40)) - 10.0);
  }
}

TEST(PathPass, TellsUnitsApartThatAreAllAlike) {
  Instance instance(60'000, 3);
  for (std::size_t unit = 0; unit < instance.revenue.rows(); ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      instance.revenue(unit, arm) = static_cast<float>(arm == 2 ? 3 : 2 * arm);
      instance.cost(unit, arm) = static_cast<float>(arm);
    }
  }
  core::RandomStream stream(2208, core::stream_purpose("path pass test"), 0);
  Dealt dealt(instance, 7, stream);
  expect_same_plan(instance, dealt, 31'234.5);
}

TEST(PathPass, GivesTheCurveAndThePlanAtAMultiplier) {
  const Instance instance = smooth_instance(30'000, 5, 11);
  core::RandomStream stream(2209, core::stream_purpose("path pass test"), 0);
  Dealt dealt(instance, 13, stream);
  core::RunContext context(2);
  PlanPath elsewhere(dealt.runner(), 5, instance.options.rules);
  const Curve there = elsewhere.curve(20, context);
  const Curve here = allocate_curve(dealt.problem(), 20, context);
  ASSERT_EQ(there.points.size(), here.points.size());
  for (std::size_t i = 0; i < here.points.size(); ++i) {
    EXPECT_EQ(there.points[i].spend, here.points[i].spend);
    EXPECT_EQ(there.points[i].value, here.points[i].value);
    EXPECT_EQ(there.points[i].units_per_arm, here.points[i].units_per_arm);
  }
  const PathPlan priced = elsewhere.at_multiplier(0.8, context);
  const Solution priced_here = apply_multiplier(dealt.problem(), 0.8, context);
  EXPECT_EQ(priced.summary.spend, priced_here.spend);
  EXPECT_EQ(dealt.assign_parts(priced.cut, context), priced_here.arm);
}

TEST(PathPass, TakesThreePassesAndSendsLittle) {
  const Instance instance = smooth_instance(100'000, 5, 12);
  core::RandomStream stream(2210, core::stream_purpose("path pass test"), 0);
  Dealt dealt(instance, 4, stream);
  expect_same_plan(instance, dealt, 40'000.0);
  EXPECT_LE(dealt.passes, 3);              // the first is a sample
  EXPECT_LE(dealt.most_sent, 3'000'000u);  // increments to fill what is left by, few enough to spare a pass
}

// ---- bytes from elsewhere

struct Findings {
  std::string pass;
  std::string part;
};

std::vector<Findings> all_findings(const Instance& instance) {
  core::RandomStream stream(2211, core::stream_purpose("path pass test"), 0);
  Dealt dealt(instance, 3, stream);
  std::vector<Findings> all;
  core::RunContext context(1);
  PlanPath path(
      [&](const std::string& pass) {
        all.push_back({pass, dealt.run(pass, dealt.in_order())});
        return all.back().part;
      },
      instance.revenue.cols(), instance.options.rules);
  const PathPlan plan = path.at_budget(20.0, context);
  path.at_multiplier(plan.summary.multiplier * 1.1, context);
  const BucketLayout layout = *PathPass::from_bytes(all[1].pass).layout();
  for (const PathPass& pass : {PathPass::refine(layout, {0, kPathEnd}, 6), PathPass::arm_spends()}) {
    all.push_back({pass.to_bytes(), dealt.run(pass.to_bytes(), dealt.in_order())});
  }
  return all;
}

// Ends in an Error or in findings, never otherwise.
void parse(const std::string& pass_bytes, const std::string& part_bytes, std::size_t num_arms) {
  try {
    const PathPass pass = PathPass::from_bytes(pass_bytes);
    const Rules rules;
    const Prices prices(rules);
    PassPart part(pass, rules, prices, num_arms);
    part.merge_bytes(part_bytes);
    part.to_bytes();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
  }
}

std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  const std::uint64_t checksum = core::hash_text(bytes);
  bytes.append(reinterpret_cast<const char*>(&checksum), 8);
  return bytes;
}

TEST(PathPassBytes, AreRefusedWhereTheyAreCutOrDamaged) {
  const Instance instance = smooth_instance(60, 3, 13);
  for (const Findings& findings : all_findings(instance)) {
    const Rules rules;
    const Prices prices(rules);
    const PathPass pass = PathPass::from_bytes(findings.pass);
    for (std::size_t size = 0; size < findings.part.size(); size += 1 + findings.part.size() / 97) {
      PassPart part(pass, rules, prices, 3);
      EXPECT_THROW(part.merge_bytes(findings.part.substr(0, size)), core::Error);
      std::string damaged = findings.part;
      damaged[size] = static_cast<char>(damaged[size] ^ 16);
      EXPECT_THROW(part.merge_bytes(damaged), core::Error);
    }
    EXPECT_THROW(PathPass::from_bytes(findings.pass.substr(1)), core::Error);
  }
}

TEST(PathPassBytes, ThatSomebodyForgedEndInAnErrorOrInFindings) {
  const Instance instance = smooth_instance(60, 3, 13);
  core::RandomStream stream(2212, core::stream_purpose("path pass test"), 0);
  for (const Findings& findings : all_findings(instance)) {
    for (int i = 0; i < 2000; ++i) {
      std::string pass = findings.pass;
      std::string part = findings.part;
      std::string& forged = i % 2 == 0 ? pass : part;
      for (int flips = 0; flips < 1 + i % 4; ++flips) {
        const std::size_t place = stream.below(static_cast<std::uint32_t>(forged.size() - 8));
        forged[place] = static_cast<char>(stream.bernoulli(0.5) ? 0xff : stream.below(256));
      }
      parse(resealed(pass), resealed(part), 3);
    }
  }
}

TEST(PathPassBytes, OfAnotherPassAreRefused) {
  const Instance instance = smooth_instance(60, 3, 13);
  const std::vector<Findings> all = all_findings(instance);
  const Rules rules;
  const Prices prices(rules);
  const PathPass pass = PathPass::from_bytes(all[1].pass);
  PassPart part(pass, rules, prices, 3);
  EXPECT_THROW(part.merge_bytes(all[0].part), core::Error);
}

TEST(PathPassBytes, OfACutAreChecked) {
  PathCut cut;
  cut.position = kPathEnd / 3;
  cut.filled_by_key = {{17, {0, 2}}, {4, {1, 2}}};
  const std::string bytes = cut.to_bytes();
  EXPECT_EQ(PathCut::from_bytes(bytes, 3).filled_by_key.at(17).to, 2);
  EXPECT_THROW(PathCut::from_bytes(bytes, 2), core::Error);
  EXPECT_THROW(PathCut::from_bytes(bytes.substr(0, 20), 3), core::Error);
}

}  // namespace
}  // namespace dfcl::allocate
