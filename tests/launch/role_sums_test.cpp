// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/role_sums.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"

namespace dfcl::launch {
namespace {

data::Plan random_plan(std::size_t units) {
  core::RandomStream stream(77, core::stream_purpose("role sums test"), 0);
  data::Plan plan;
  for (std::size_t unit = 0; unit < units; ++unit) {
    plan.role.push_back(static_cast<data::Role>(stream.below(data::kNumRoles)));
    const auto number = [&] { return static_cast<float>(stream.uniform(-1e6, 1e6)); };
    plan.revenue.push_back(number());
    plan.cost.push_back(number() * 1e-9f);
    plan.control_revenue.push_back(number());
    plan.control_cost.push_back(0.0f);
  }
  return plan;
}

data::Plan rows_of(const data::Plan& plan, std::size_t begin, std::size_t end) {
  data::Plan part;
  for (std::size_t unit = end; unit-- > begin;) {  // backwards: the order does not show
    part.role.push_back(plan.role[unit]);
    part.revenue.push_back(plan.revenue[unit]);
    part.cost.push_back(plan.cost[unit]);
    part.control_revenue.push_back(plan.control_revenue[unit]);
    part.control_cost.push_back(plan.control_cost[unit]);
  }
  return part;
}

TEST(RoleSums, AreTheSameForAnyCutOfTheUnits) {
  const data::Plan plan = random_plan(3000);
  RoleSums whole;
  whole.add(plan);
  RoleSums merged;
  for (std::size_t begin = 0; begin < 3000; begin += 700) {
    RoleSums part;
    part.add(rows_of(plan, begin, std::min<std::size_t>(3000, begin + 700)));
    merged.merge(RoleSums::from_bytes(part.to_bytes()));
  }
  EXPECT_EQ(merged.to_bytes(), whole.to_bytes());
  std::size_t units = 0;
  double revenue = 0.0;
  for (const RoleTotals& role : whole.totals()) {
    units += role.units;
    revenue += role.revenue;
  }
  double plain = 0.0;
  for (const float number : plan.revenue) plain += static_cast<double>(number);
  EXPECT_EQ(units, 3000u);
  EXPECT_NEAR(revenue, plain, 1e-3);
}

TEST(RoleSums, RefuseBytesThatAreCutOrDamaged) {
  RoleSums sums;
  sums.add(random_plan(10));
  const std::string bytes = sums.to_bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 41) {
    EXPECT_THROW(RoleSums::from_bytes(bytes.substr(0, size)), core::Error);
    std::string damaged = bytes;
    damaged[size] = static_cast<char>(damaged[size] ^ 4);
    EXPECT_THROW(RoleSums::from_bytes(damaged), core::Error);
  }
}

}  // namespace
}  // namespace dfcl::launch
