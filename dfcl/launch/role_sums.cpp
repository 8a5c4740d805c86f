// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/role_sums.h"

namespace dfcl::launch {
namespace {

constexpr std::uint64_t kLetters = 0x316c6f7266636664u;  // "dfcfrol1"

}  // namespace

void RoleSums::add(const data::Plan& piece) {
  for (std::size_t unit = 0; unit < piece.role.size(); ++unit) {
    Sums& role = roles_[static_cast<std::size_t>(piece.role[unit])];
    ++role.units;
    role.revenue.add(piece.revenue[unit]);
    role.spend.add(piece.cost[unit]);
    role.control_revenue.add(piece.control_revenue[unit]);
    role.control_spend.add(piece.control_cost[unit]);
  }
}

void RoleSums::merge(const RoleSums& other) {
  for (std::size_t role = 0; role < roles_.size(); ++role) {
    roles_[role].units += other.roles_[role].units;
    roles_[role].revenue.add(other.roles_[role].revenue);
    roles_[role].spend.add(other.roles_[role].spend);
    roles_[role].control_revenue.add(other.roles_[role].control_revenue);
    roles_[role].control_spend.add(other.roles_[role].control_spend);
  }
}

std::vector<RoleTotals> RoleSums::totals() const {
  std::vector<RoleTotals> totals;
  for (const Sums& role : roles_) {
    totals.push_back({role.units, role.revenue.value(), role.spend.value(), role.control_revenue.value(),
                      role.control_spend.value()});
  }
  return totals;
}

std::string RoleSums::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kLetters);
  for (const Sums& role : roles_) {
    bytes.write_count(role.units);
    for (const auto* sum : {&role.revenue, &role.spend, &role.control_revenue, &role.control_spend}) sum->save(bytes);
  }
  return std::move(bytes).seal();
}

RoleSums RoleSums::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "sums by role");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kLetters, "these bytes are no sums by role");
  RoleSums sums;
  for (Sums& role : sums.roles_) {
    role.units = bytes.read<std::uint64_t>();
    bytes.require(role.units < 0x80000000u, "2^31 units or more");
    for (auto* sum : {&role.revenue, &role.spend, &role.control_revenue, &role.control_spend}) {
      *sum = allocate::ExactSum::load(bytes);
    }
  }
  bytes.end();
  return sums;
}

}  // namespace dfcl::launch
