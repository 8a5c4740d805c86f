// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/qini.h"

#include <algorithm>
#include <utility>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/areas/ranking.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kTile = ResampleBlock::kTile;
using Tile = ResampleBlock::Tile;

struct StepSums {
  Lanes weight[2]{};  // control, treated
  Lanes revenue[2]{};
};

DFCL_FOR_EACH_PROCESSOR
void add_rows(const QiniRow* rows, std::size_t count, const Tile& weights, StepSums* steps) {
  for (std::size_t i = 0; i < count; ++i) {
    const QiniRow row = rows[i];
    Lanes& weight = steps[row.step].weight[row.treated];
    Lanes& revenue = steps[row.step].revenue[row.treated];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double times = static_cast<double>(static_cast<int>(weights[i][lane]));
      weight[lane] += times * row.weight;
      revenue[lane] += times * row.revenue;
    }
  }
}

// The two areas of one resample, by trapezoids.
void integrate(const std::vector<StepSums>& steps, std::size_t lane, QiniLanes& result) {
  double total = 0.0;
  for (const StepSums& step : steps) total += step.weight[0][lane] + step.weight[1][lane];
  double weight[2] = {0.0, 0.0};
  double revenue[2] = {0.0, 0.0};
  double last_qini = 0.0;
  double last_uplift = 0.0;
  double qini_area = 0.0;
  double uplift_area = 0.0;
  const double width = 1.0 / static_cast<double>(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t arm = 0; arm < 2; ++arm) {
      weight[arm] += steps[i].weight[arm][lane];
      revenue[arm] += steps[i].revenue[arm][lane];
    }
    const bool both = weight[0] > 0.0 && weight[1] > 0.0;
    const double uplift = both ? revenue[1] / weight[1] - revenue[0] / weight[0] : 0.0;
    const double qini = uplift * weight[1] / total;
    const double gain = uplift * static_cast<double>(i + 1) * width;
    qini_area += 0.5 * width * (last_qini + qini);
    uplift_area += 0.5 * width * (last_uplift + gain);
    last_qini = qini;
    last_uplift = gain;
  }
  result.qini[lane] = qini_area - 0.5 * last_qini;
  result.auuc[lane] = uplift_area;
}

// Of the first rows of the ranking.
struct RankedSums {
  double units = 0.0;
  double weight[2] = {0.0, 0.0};
  double revenue[2] = {0.0, 0.0};

  void add(const QiniRow& row) {
    units += row.units;
    weight[row.treated] += row.weight;
    revenue[row.treated] += row.revenue;
  }
  void add(const RankedSums& other) {
    units += other.units;
    for (std::size_t arm = 0; arm < 2; ++arm) {
      weight[arm] += other.weight[arm];
      revenue[arm] += other.revenue[arm];
    }
  }
  double gain() const { return revenue[1] - (weight[0] > 0.0 ? revenue[0] * weight[1] / weight[0] : 0.0); }
};

// The ends of the steps of a chunk of the ranking, and the area between them.
struct RankedArea {
  bool has_step = false;
  RankedPoint first, last;  // x: units; value: gain
  double area = 0.0;

  void step_to(const RankedPoint& point) {
    if (!has_step) first = point;
    if (has_step) area += 0.5 * (last.value + point.value) * (point.x - last.x);
    last = point;
    has_step = true;
  }
};

// score: per place in rows. Chunks of the ranking are summed, then walked from the sums before them.
double area_above_random(std::span<const QiniRow> rows, std::span<const double> score, core::RunContext& context) {
  constexpr std::size_t kChunk = 32'768;
  const std::vector<std::uint32_t> order = order_falling(score, {}, context);
  std::vector<RankedSums> before((order.size() + kChunk - 1) / kChunk);
  core::for_each_chunk(context, order.size(), kChunk, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
    RankedSums sums;
    for (std::size_t i = begin; i < end; ++i) sums.add(rows[order[i]]);
    before[chunk] = sums;
  });
  RankedSums all;
  for (RankedSums& sums : before) {
    const RankedSums own = std::exchange(sums, all);
    all.add(own);
  }
  std::vector<RankedArea> parts(before.size());
  core::for_each_chunk(context, order.size(), kChunk, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
    RankedSums sums = before[chunk];
    RankedArea part;
    for (std::size_t i = begin; i < end; ++i) {
      sums.add(rows[order[i]]);
      if (i + 1 < order.size() && score[order[i + 1]] == score[order[i]]) continue;  // equal scores are one step
      part.step_to({sums.units / all.units, sums.gain() / (all.weight[0] + all.weight[1]), 0.0});
    }
    parts[chunk] = part;
  });
  RankedArea whole;
  whole.step_to({0.0, 0.0, 0.0});
  for (const RankedArea& part : parts) {
    if (!part.has_step) continue;
    whole.step_to(part.first);
    whole.area += part.area;
    whole.last = part.last;
  }
  return whole.area - 0.5 * whole.last.value;
}

}  // namespace

std::vector<QiniRow> qini_rows(const TrialRows& rows, std::span<const double> extra_revenue, std::size_t arm,
                               core::RunContext& context) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.arm[row] == arm || rows.arm[row] == rows.arms.control) chosen.push_back(static_cast<std::uint32_t>(row));
  }
  const std::vector<std::uint32_t> order = order_falling(extra_revenue, chosen, context);
  std::vector<std::uint8_t> step(rows.size());
  if (rows.sample.empty()) {
    core::for_each_chunk(context, order.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t place = begin; place < end; ++place)
        step[order[place]] = static_cast<std::uint8_t>(place * kQiniSteps / order.size());
    });
  } else {
    double total = 0.0;
    double before = 0.0;
    for (const std::uint32_t row : order) total += rows.sample_weight(row);
    for (const std::uint32_t row : order) {
      const auto share = static_cast<std::size_t>(before / total * static_cast<double>(kQiniSteps));
      step[row] = static_cast<std::uint8_t>(std::min(share, kQiniSteps - 1));
      before += rows.sample_weight(row);
    }
  }
  std::vector<QiniRow> result(chosen.size());
  core::for_each_chunk(context, chosen.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t place = begin; place < end; ++place) {
      const std::uint32_t row = chosen[place];
      const double weight = rows.total_weight(row);
      result[place] = {weight,    weight * static_cast<double>(rows.revenue[row]),         row,
                       step[row], static_cast<std::uint8_t>(rows.arm[row] == arm ? 1 : 0), rows.sample_weight(row)};
    }
  });
  return result;
}

QiniLanes qini_lanes(const ResampleBlock& block, std::span<const QiniRow> rows) {
  std::vector<StepSums> steps(kQiniSteps);
  Tile weights;
  std::uint32_t indices[kTile];
  for (std::size_t begin = 0; begin < rows.size(); begin += kTile) {
    const std::size_t count = std::min(kTile, rows.size() - begin);
    for (std::size_t i = 0; i < count; ++i) indices[i] = rows[begin + i].row;
    block.fill({indices, count}, weights);
    add_rows(rows.data() + begin, count, weights, steps.data());
  }
  QiniLanes result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) integrate(steps, lane, result);
  return result;
}

double ranked_qini(std::span<const QiniRow> rows, std::span<const double> score, core::RunContext& context) {
  std::vector<double> own(rows.size());
  core::for_each_chunk(context, rows.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t place = begin; place < end; ++place) own[place] = score[rows[place].row];
  });
  return area_above_random(rows, own, context);
}

double perfect_qini(std::span<const QiniRow> rows, core::RunContext& context) {
  std::vector<double> score(rows.size());
  core::for_each_chunk(context, rows.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t place = begin; place < end; ++place) {
      const double outcome = rows[place].revenue / rows[place].weight;
      score[place] = rows[place].treated != 0 ? outcome : -outcome;
    }
  });
  return area_above_random(rows, score, context);
}

std::vector<RankedPoint> qini_curve(std::span<const QiniRow> rows) {
  struct Sums {
    double weight[2] = {0.0, 0.0};
    double revenue[2] = {0.0, 0.0};
  };
  std::vector<Sums> steps(kQiniSteps);
  double total = 0.0;
  for (const QiniRow& row : rows) {
    steps[row.step].weight[row.treated] += row.weight;
    steps[row.step].revenue[row.treated] += row.revenue;
    total += row.weight;
  }
  std::vector<RankedPoint> points = {{0.0, 0.0, 0.0}};
  Sums sums;
  for (std::size_t i = 0; i < kQiniSteps; ++i) {
    for (std::size_t arm = 0; arm < 2; ++arm) {
      sums.weight[arm] += steps[i].weight[arm];
      sums.revenue[arm] += steps[i].revenue[arm];
    }
    const double of_control = sums.weight[0] > 0.0 ? sums.revenue[0] * sums.weight[1] / sums.weight[0] : 0.0;
    const double share = static_cast<double>(i + 1) / static_cast<double>(kQiniSteps);
    points.push_back({share, (sums.revenue[1] - of_control) / total, 0.0});
  }
  for (RankedPoint& point : points) point.random = point.x * points.back().value;
  return points;
}

}  // namespace dfcl::evaluate
