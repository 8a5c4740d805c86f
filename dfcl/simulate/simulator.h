// SPDX-License-Identifier: Apache-2.0
//
// Randomised trials with known truth. A Simulator can make any range of its rows, at any time and on any thread: every
// row has its own random streams, so chunks, order and threads change nothing. Also the truth behind the rows, and
// the outcomes that other arms would have had. Time: about 0.6 microseconds a criteo row, 6 a marketing row, 3 a varied
// row. Memory: the rows asked for and nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/batch.h"
#include "dfcl/simulate/options.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {

struct SimulatedRows {
  data::Batch trial;  // columns as trial_columns()
  data::Batch truth;  // columns as truth_columns()
};

struct ExpectedOutcomes {
  core::Matrix<double> revenue;  // rows x arms
  core::Matrix<double> cost;     // rows x arms
};

struct DrawnOutcomes {
  std::vector<double> revenue;
  std::vector<double> cost;
};

class Simulator {
 public:
  // Throws core::Error of kind usage.
  explicit Simulator(SimulatorOptions options);

  const SimulatorOptions& options() const { return options_; }
  const std::vector<std::string>& arms() const { return arms_; }  // labels, control first
  const std::vector<double>& shares() const { return shares_; }   // as designed
  const UnitModel::Roles& roles() const { return roles_; }
  const std::vector<data::ColumnInfo>& trial_columns() const { return trial_columns_; }
  const std::vector<data::ColumnInfo>& truth_columns() const { return truth_columns_; }
  std::uint64_t num_rows() const { return options_.num_rows; }
  // Units that each have one row a day; num_rows() where there are no days. Row r is unit r % num_units().
  std::uint64_t num_units() const { return options_.num_rows / std::max<std::uint64_t>(options_.num_days, 1); }

  SimulatedRows make_rows(std::uint64_t first_row, std::size_t num_rows) const;
  ExpectedOutcomes expected_outcomes(std::uint64_t first_row, std::size_t num_rows) const;
  // The arms the trial draws for these rows, as indices into arms().
  std::vector<std::uint8_t> drawn_arms(std::uint64_t first_row, std::size_t num_rows) const;
  // What the rows first_row, first_row + 1, ... yield under these arms; the trial's outcomes under its own arms.
  DrawnOutcomes draw_outcomes(std::uint64_t first_row, std::span<const std::uint8_t> arms) const;

  // The same in two steps, for whoever draws outcomes for the same rows several times.
  const std::vector<data::ColumnInfo>& feature_columns() const { return model_->feature_columns(); }
  UnitBlock make_units(std::uint64_t first_row, std::size_t num_rows) const;
  DrawnOutcomes draw_outcomes(std::uint64_t first_row, std::span<const std::uint8_t> arms,
                              const UnitBlock& block) const;

 private:
  std::vector<UnitKey> keys_of(std::uint64_t first_row, std::size_t num_rows) const;
  std::vector<std::uint8_t> assign(std::span<const UnitKey> keys, std::span<const double> lean) const;
  data::Batch trial_batch(std::span<const UnitKey> keys, UnitBlock& block) const;
  data::Batch truth_batch(std::span<const UnitKey> keys, const UnitBlock& block, std::uint64_t first_row) const;

  SimulatorOptions options_;
  std::vector<std::string> arms_;
  std::vector<double> shares_;
  std::unique_ptr<UnitModel> model_;
  UnitModel::Roles roles_;
  std::vector<data::ColumnInfo> trial_columns_;
  std::vector<data::ColumnInfo> truth_columns_;
};

}  // namespace dfcl::simulate
