// SPDX-License-Identifier: Apache-2.0
//
// The words that callers type for the choices of the verbs (core/words.h reads and lists them).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/words.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/areas/ranking.h"
#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/resample.h"
#include "dfcl/report/results/results_report.h"

namespace dfcl::verbs {

// The rows of a trial that are looked at.
enum class Rows : std::uint8_t { train, validation, test, all };
enum class Intervals : std::uint8_t { bootstrap, analytic };
enum class Switch : std::uint8_t { on, off };
// How a plan may be put: unit by unit, or as a short rule.
enum class PlanRule : std::uint8_t { none, tree };

// None for all.
inline std::optional<data::Split> split_of_rows(Rows rows) {
  switch (rows) {
    case Rows::train: return data::Split::train;
    case Rows::validation: return data::Split::validation;
    case Rows::test: return data::Split::test;
    case Rows::all: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace dfcl::verbs

namespace dfcl::core {

template <>
inline constexpr std::array<std::string_view, 4> kWords<verbs::Rows> = {"train", "validation", "test", "all"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<verbs::Intervals> = {"bootstrap", "analytic"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<verbs::Switch> = {"on", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<verbs::PlanRule> = {"none", "tree"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<evaluate::Estimator> = {"horvitz-thompson", "hajek",
                                                                                "stratified", "doubly-robust"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<evaluate::Weights> = {"poisson", "multinomial"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<evaluate::Ranking> = {"angle", "published"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<allocate::Objective> = {"revenue", "profit"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<report::ResultsFormat> = {"html", "md", "text", "xlsx", "csv"};

}  // namespace dfcl::core
