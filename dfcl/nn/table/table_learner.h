// SPDX-License-Identifier: Apache-2.0
//
// The learner of networks for tables ([network] kind = "table"): encodings fitted on the training units when it is
// made, then one network a fit. Time of a fit: that of its matrix products; memory: see trainer.h.
#pragma once

#include <memory>

#include "dfcl/learn/learner.h"
#include "dfcl/nn/table/table_network.h"
#include "dfcl/nn/trainer.h"

namespace dfcl::nn {

// What only training knows of a network for tables.
struct TableTraining {
  double dropout = 0.2;
  Stopping stopping = {};
};

class TableLearner final : public learn::Learner {
 public:
  TableLearner(TableEncoding encoding, const TableOptions& options, const TableTraining& training,
               const learn::LearnerRequest& request);

  learn::Fit fit(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 core::RunContext& context) const override;
  std::vector<std::pair<std::string, std::string>> shown() const override;

  const TableEncoding& encoding() const { return encoding_; }
  const TableOptions& options() const { return options_; }

 private:
  TableEncoding encoding_;
  TableOptions options_;
  TableTraining training_;
  learn::Steps steps_;
  std::uint64_t seed_;
};

// Throws Error of kind usage that names the key of [network], or says what of a starting model differs.
std::unique_ptr<learn::Learner> make_table_learner(const learn::LearnerRequest& request, core::RunContext& context);

// Whether the study's networks are for tables: as it says; else unless it trains as published or names layers or the
// scaling of a plain network.
bool uses_table_network(const data::Study& study);

}  // namespace dfcl::nn
