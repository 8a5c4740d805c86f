// SPDX-License-Identifier: Apache-2.0
//
// A check of rows that lie on many machines. A sample of them, on one machine, says what the features are expanded to,
// how they go together and what tells the revenue; all rows are counted and added up where they are, exactly, so any
// cut of the rows and any order of merging give the same bytes. Units that are drawn one by one: no clusters, no times.
// Bytes are checked as hostile input. Memory: 1.1 KB per arm and expanded column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/check/arm_means.h"
#include "dfcl/check/check.h"
#include "dfcl/check/columns.h"
#include "dfcl/check/covariance.h"
#include "dfcl/check/expansion.h"
#include "dfcl/check/verdict.h"
#include "dfcl/core/exact_total.h"

namespace dfcl::check {

// What is to be added up.
struct CheckTask {
  std::size_t num_arms = 0;
  std::size_t num_guardrails = 0;
  bool weighted = false;  // weights differ between units of one arm
  Expansion expansion;
  std::array<double, kOutcomes> pivot{};  // near the means of the outcomes: spreads are added up around it

  std::string to_bytes() const;
  static CheckTask from_bytes(std::string_view bytes);
};

class CheckSums {
 public:
  // The task must outlive the sums.
  explicit CheckSums(const CheckTask& task);

  // Rows whose arms and features mean what those of the sample do.
  void add(const data::Trial& part);
  void merge(const CheckSums& other);
  // Of the same task. Throws Error of kind data.
  void merge_bytes(std::string_view bytes);
  std::string to_bytes() const;

  std::size_t num_units() const;
  const ColumnTable& table() const { return table_; }
  const RowFacts& facts() const { return facts_; }
  // Of the trial only arms, known costs and names of guardrails.
  std::vector<ArmSummary> arms(const data::Trial& trial) const;
  std::vector<GuardrailSummary> guardrails(const data::Trial& trial) const;
  ColumnMoments moments() const;

 private:
  struct Outcome {  // w weighs a unit, y is what it earned or cost, z is y less the pivot
    core::ExactTotal wy, wwz, wwzz;
  };
  struct Arm {
    std::uint64_t with_revenue = 0;
    core::ExactTotal weight, weight_squared;
    std::array<Outcome, kOutcomes> outcome;
    std::vector<core::ExactTotal> guardrails;
    // Per column: w x and w x^2, and with varying weights w^2 x and w^2 x^2.
    std::vector<core::ExactTotal> sum, square, sum_squared, square_squared;
  };
  template <class AnyArm, class Each>
  static void for_each_total(AnyArm& arm, Each&& each);

  const CheckTask* task_;
  std::vector<Arm> arms_;
  ColumnTable table_;
  RowFacts facts_;
};

class CheckElsewhere {
 public:
  // sample: of all rows, num_units of them. All must outlive this.
  CheckElsewhere(const data::Trial& sample, const data::Study& study, std::size_t num_units,
                 const CheckOptions& options, core::RunContext& context);
  ~CheckElsewhere();

  std::string task() const;
  CheckResult conclude(const CheckSums& sums, Duplicates duplicates, core::RunContext& context) const;

 private:
  const data::Trial& sample_;
  const data::Study& study_;
  CheckOptions options_;
  Draws draws_;
  std::unique_ptr<Expansion> expansion_;
};

}  // namespace dfcl::check
