// SPDX-License-Identifier: Apache-2.0
//
// Qini and AUUC (eq. 19), for readers who expect them: one treated arm against control, rows ranked by predicted extra
// revenue. Areas of the trial itself step at every distinct score, as scikit-uplift's do; resamples and curves at
// kQiniSteps equal shares of the ranking. With Y and n the weighted revenue and units of
// an arm among the first rows: uplift u = Yt/nt - Yc/nc; AUUC is the area of share x u; the Qini curve is
// (Yt - Yc nt/nc) / N, N the units of both arms, and qini its area above the straight line. Both per unit, random
// ranking: qini 0. The Qini coefficient divides that area by the one of the best ranking, as scikit-uplift's
// qini_auc_score does: 1 is perfect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/resample.h"
#include "dfcl/evaluate/heterogeneity/heterogeneity_figures.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kQiniSteps = 100;

// The rows of the two arms, in row order, with their place in the ranking.
struct QiniRow {
  double weight;   // 1 / propensity
  double revenue;  // times that
  std::uint32_t row;
  std::uint8_t step;  // 0 to kQiniSteps - 1
  std::uint8_t treated;
  double units = 1.0;  // sample weight
};
std::vector<QiniRow> qini_rows(const TrialRows& rows, std::span<const double> extra_revenue, std::size_t arm,
                               core::RunContext& context);

struct QiniLanes {
  Lanes qini{};
  Lanes auuc{};
};
QiniLanes qini_lanes(const ResampleBlock& block, std::span<const QiniRow> rows);

// The area above random of the rows ranked by falling score (per row of the trial): one step for equal scores. One
// sort.
double ranked_qini(std::span<const QiniRow> rows, std::span<const double> score, core::RunContext& context);

// At kQiniSteps equal shares of the ranking, from 0 to 1.
std::vector<RankedPoint> qini_curve(std::span<const QiniRow> rows);

// The area of the ranking that knows the outcomes: treated units by falling revenue, then control by rising. It may be
// 0, or less. One sort.
double perfect_qini(std::span<const QiniRow> rows, core::RunContext& context);

}  // namespace dfcl::evaluate
