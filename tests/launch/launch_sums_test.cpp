// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dfcl/core/bytes.h"
#include "dfcl/core/error.h"
#include "dfcl/core/random.h"

namespace dfcl::launch {
namespace {

// Units of a launch; those of a part, where there are several, and the arms that are seen there.
Launch launch_of(std::size_t part, std::size_t num_parts, std::vector<std::string> arms) {
  Launch launch;
  launch.arms = std::move(arms);
  launch.planned_per_role.assign(data::kNumRoles, 0);
  launch.seen_per_role.assign(data::kNumRoles, 0);
  launch.guardrails = {{"complaints", {}}};
  const auto place = [&](const char* label) {
    return static_cast<std::uint8_t>(std::find(launch.arms.begin(), launch.arms.end(), label) - launch.arms.begin());
  };
  for (std::size_t unit = part; unit < 900; unit += num_parts) {
    core::RandomStream stream(5, core::stream_purpose("launch"), unit);
    const double draw = stream.uniform();
    const data::Role role = draw < 0.2 ? data::Role::holdout : draw < 0.3 ? data::Role::explore : data::Role::plan;
    // Every third unit got the arm 10, the others 5, so that parts of every third unit see different arms.
    const std::uint8_t arm = role == data::Role::holdout ? place("0") : unit % 3 == 0 ? place("10") : place("5");
    launch.role.push_back(role);
    launch.planned_arm.push_back(arm);
    launch.received_arm.push_back(arm);
    launch.planned_revenue.push_back(static_cast<float>(stream.uniform()));
    launch.planned_cost.push_back(static_cast<float>(stream.uniform()));
    launch.control_revenue.push_back(static_cast<float>(stream.uniform()));
    launch.control_cost.push_back(0.0f);
    launch.revenue.push_back(stream.normal());
    launch.cost.push_back(stream.uniform());
    launch.weight.push_back(0.5 + stream.uniform());
    launch.guardrails[0].value.push_back(stream.uniform());
    launch.planned_spend_of_all.add(static_cast<double>(launch.planned_cost.back()));
    ++launch.planned_per_role[static_cast<std::size_t>(role)];
    ++launch.seen_per_role[static_cast<std::size_t>(role)];
    ++launch.units_in_plan;
    ++launch.units_in_outcomes;
    ++launch.units_joined;
  }
  return launch;
}

std::vector<Launch> parts_of_three() {
  std::vector<Launch> parts;
  parts.push_back(launch_of(0, 3, {"0", "10"}));
  parts.push_back(launch_of(1, 3, {"0", "5"}));
  parts.push_back(launch_of(2, 3, {"0", "5"}));
  return parts;
}

LaunchTotals totals_of(const Launch& launch) {
  LaunchTotals totals(launch.arms, {"complaints"});
  totals.add(launch);
  return LaunchTotals::from_bytes(totals.to_bytes());
}

TEST(LaunchSums, AnyCutAndOrderOfTheUnitsGivesTheSameBytes) {
  const Launch whole = launch_of(0, 1, {"0", "5", "10"});
  const std::string bytes = totals_of(whole).to_bytes();
  LaunchProducts products(totals_of(whole).num_groups());
  products.add(whole, totals_of(whole));
  std::vector<std::size_t> order = {0, 1, 2};
  const std::vector<Launch> parts = parts_of_three();
  do {
    LaunchTotals merged = totals_of(parts[order[0]]);
    for (const std::size_t part : {order[1], order[2]}) merged.merge(totals_of(parts[part]));
    EXPECT_EQ(merged.to_bytes(), bytes);
    EXPECT_EQ(merged.arms, (std::vector<std::string>{"0", "5", "10"}));
    LaunchProducts around(merged.num_groups());
    for (const std::size_t part : order) {
      LaunchProducts own(merged.num_groups());
      own.add(launch_of(part, 3, merged.arms), merged);
      around.merge(LaunchProducts::from_bytes(own.to_bytes()));
    }
    EXPECT_EQ(around.to_bytes(), products.to_bytes());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(LaunchSums, SumsOfAnotherLaunchAreRefused) {
  LaunchTotals totals({"0", "5"}, {"complaints"});
  EXPECT_THROW(totals.merge(LaunchTotals({"0", "5"}, {"returns"})), core::Error);
  LaunchProducts products(3);
  EXPECT_THROW(products.merge(LaunchProducts(4)), core::Error);
}

TEST(LaunchSums, ForgedBytesEndInAnErrorOrInSomethingSound) {
  const Launch launch = launch_of(0, 1, {"0", "5", "10"});
  const LaunchTotals totals = totals_of(launch);
  LaunchProducts products(totals.num_groups());
  products.add(launch, totals);
  std::size_t num_refused = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    core::RandomStream stream(12, core::stream_purpose("forge"), i);
    std::string forged = i % 2 == 0 ? totals.to_bytes() : products.to_bytes();
    forged.resize(forged.size() - sizeof(std::uint64_t));
    const std::size_t most = stream.bernoulli(0.5) ? 80 : forged.size();
    forged[stream.below(static_cast<std::uint32_t>(most))] = static_cast<char>(stream.below(256));
    if (stream.bernoulli(0.2)) forged.resize(stream.below(static_cast<std::uint32_t>(forged.size())));
    core::ByteWriter bytes;
    for (const char letter : forged) bytes.write(letter);
    const std::string sealed = std::move(bytes).seal();
    try {
      if (i % 2 == 0) {
        LaunchTotals merged = LaunchTotals::from_bytes(sealed);
        merged.merge(totals);
      } else {
        products.merge(LaunchProducts::from_bytes(sealed));
      }
    } catch (const core::Error&) {
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, 500u);
}

}  // namespace
}  // namespace dfcl::launch
