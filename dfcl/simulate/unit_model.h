// SPDX-License-Identifier: Apache-2.0
//
// The seam between the Simulator, which knows rows and arms, and a preset, which knows what its units are like.
// All calls are per block of rows, const, and depend on the keys of the rows only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/batch.h"
#include "dfcl/simulate/options.h"

namespace dfcl::simulate {

// A row is a unit on a day. Random streams are keyed by these two, never by the row's place in a file.
struct UnitKey {
  std::uint64_t unit = 0;  // from 0, below 2^40
  std::uint64_t day = 0;   // from 0
  std::uint64_t row_index() const { return (day << 40) | unit; }
};

struct UnitBlock {
  std::vector<data::ColumnValues> features;  // empty where they were not asked for
  std::vector<double> lean;                  // what a broken randomisation leans on; mean about 0, sd about 1
  core::Matrix<double> revenue;              // rows x arms, expected
  core::Matrix<double> cost;                 // rows x arms, expected
};

class UnitModel {
 public:
  virtual ~UnitModel() = default;
  virtual const std::vector<data::ColumnInfo>& feature_columns() const = 0;
  virtual UnitBlock make_units(std::span<const UnitKey> keys, bool with_features) const = 0;
  // Outcomes of the given arms, one for each row. The numbers behind them are the row's own: another arm for the same
  // row meets the same draw.
  virtual void draw_outcomes(std::span<const UnitKey> keys, const UnitBlock& block, std::span<const std::uint8_t> arms,
                             std::span<double> revenue, std::span<double> cost) const = 0;
  // Column names of arm, revenue and cost, and of what else a row holds (no days, no features).
  struct Roles {
    std::string id;  // "": the trial has no id column
    std::string arm, revenue, cost;
    data::ColumnType outcome_type = data::ColumnType::float64;
    bool control_is_free = false;
    bool graded_arms = false;  // the arms go from control up, and so does their cost
  };
  virtual Roles roles() const = 0;
};

std::unique_ptr<UnitModel> make_marketing(const SimulatorOptions& options);
std::unique_ptr<UnitModel> make_criteo(const SimulatorOptions& options);
std::unique_ptr<UnitModel> make_varied(const SimulatorOptions& options);

// The seed of outcomes: the units' own where the options name none.
std::uint64_t outcome_seed(const SimulatorOptions& options);

// The seed of the functions behind the effects: they do not change with the seed of the units.
inline constexpr std::uint64_t kWorldSeed = 20240607;

}  // namespace dfcl::simulate
