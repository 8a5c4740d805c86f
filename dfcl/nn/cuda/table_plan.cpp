// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/cuda/table_plan.h"

#include <fmt/format.h>

#include <numeric>

#include "dfcl/core/error.h"

namespace dfcl::nn::cuda {
namespace {

// One thread goes through all levels of a category.
constexpr std::size_t kMostLevels = 4096;

int rounded_up(int size, int step) { return (size + step - 1) / step * step; }

class TablePlanMaker {
 public:
  TablePlanMaker(const CardLosses& losses, const TableNetwork<float>& network) : network_(network) {
    add_columns();
    add_layers();
    add_maps();
    std::vector<std::size_t> revenue(network.revenue().num_outputs()), cost(network.cost().num_outputs());
    std::iota(revenue.begin(), revenue.end(), std::size_t{0});
    std::iota(cost.begin(), cost.end(), revenue.size());
    plan().loss = make_loss_plan(losses, network.revenue(), network.cost(), revenue, cost);
    const std::size_t facts = record_facts(losses.needs_nuisance(), network.cost().num_arms());
    plan().record_floats = rounded_up(static_cast<int>(facts), 4);
    result_.num_parameters = network.layout().size;
  }
  TableCardPlan take() { return std::move(result_); }

 private:
  TablePlan& plan() { return result_.network; }

  void add_columns() {
    const TableEncoding& encoding = network_.encoding();
    const auto to_int = [](std::size_t value) { return static_cast<std::int32_t>(value); };
    for (const TableColumn& column : encoding.columns()) {
      std::span<const float> facts = column.knots;
      if (column.kind == TableColumnKind::category) facts = encoding.shares(column);
      require_at_most("the number of levels of a category", column.num_weights, kMostLevels);
      result_.columns.push_back({static_cast<std::int32_t>(column.kind), to_int(column.first_value),
                                 to_int(column.num_values), to_int(column.first_weight), to_int(column.num_weights),
                                 to_int(column.low), to_int(result_.facts.size())});
      result_.facts.insert(result_.facts.end(), facts.begin(), facts.end());
    }
    plan().num_columns = to_int(encoding.num_columns());
    plan().num_values = to_int(encoding.num_values());
    plan().num_weights = to_int(encoding.num_weights());
    plan().encoded = rounded_up(plan().num_values, 32);
  }

  void add_layers() {
    if (network_.width() != kTableWidth) {
      throw core::Error({.kind = core::ErrorKind::unavailable,
                         .what = "on a graphics card a network for tables has its usual width",
                         .found = fmt::format("{}", network_.width()),
                         .expected = fmt::format("{}", kTableWidth),
                         .hint = "train on the processor"});
    }
    require_at_most("the number of outputs", network_.num_outputs(), 2 * kMostArms);
    TablePlan& plan = this->plan();
    plan.members = static_cast<int>(network_.members());
    plan.outputs = static_cast<int>(network_.num_outputs());
    plan.n16 = rounded_up(plan.outputs, 16);
    plan.member_size = rounded_up(plan.head_bias() + plan.n16, kUnitPositions);
    plan.shared_size = kSecondSize + plan.members * plan.member_size;
    plan.packed_size = plan.packed_heads(plan.members);
  }

  void set(int position, std::size_t parameter, int forward, int backward) {
    const auto i = static_cast<std::size_t>(position);
    result_.maps.parameter[i] = static_cast<std::int32_t>(parameter);
    result_.maps.forward[i] = forward;
    result_.maps.backward[i] = backward;
  }

  void add_maps() {
    const TablePlan& plan = this->plan();
    const auto size = static_cast<std::size_t>(plan.shared_size);
    for (auto* map : {&result_.maps.parameter, &result_.maps.forward, &result_.maps.backward}) map->assign(size, -1);
    constexpr int width = kCardWidth;
    for (int n = 0; n < width; ++n) {
      for (int k = 0; k < width; ++k) {
        set(n * width + k, network_.layout().second + static_cast<std::size_t>(k * width + n), n * width + k,
            kSecondSize + k * width + n);
      }
    }
    for (int member = 0; member < plan.members; ++member) add_member(member);
  }

  void add_member(int member) {
    const TablePlan& plan = this->plan();
    const TableLayout& layout = network_.layout();
    constexpr int width = kCardWidth;
    const int first = plan.member_position(member);
    const std::size_t own = static_cast<std::size_t>(member) * network_.width();
    int part = 0;
    for (const std::size_t offset : {layout.scale1, layout.bias1, layout.sign, layout.scale2, layout.bias2}) {
      for (int i = 0; i < width; ++i) set(first + part * width + i, offset + own + static_cast<std::size_t>(i), -1, -2);
      ++part;
    }
    const auto outputs = static_cast<std::size_t>(plan.outputs);
    for (int n = 0; n < plan.outputs; ++n) {
      for (int k = 0; k < width; ++k) {
        set(first + kHeads + n * width + k, layout.heads + own * outputs + static_cast<std::size_t>(n * width + k),
            plan.packed_heads(member) + n * width + k, -1);
      }
      set(first + plan.head_bias() + n,
          layout.head_bias + static_cast<std::size_t>(member) * outputs + static_cast<std::size_t>(n), -1, -2);
    }
  }

  const TableNetwork<float>& network_;
  TableCardPlan result_{};
};

}  // namespace

TableCardPlan make_table_plan(const CardLosses& losses, const TableNetwork<float>& network) {
  return TablePlanMaker(losses, network).take();
}

}  // namespace dfcl::nn::cuda
