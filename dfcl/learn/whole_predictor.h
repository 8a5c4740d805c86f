// SPDX-License-Identifier: Apache-2.0
//
// A finished model as one predictor of another: its fits, its mean effect and its calibration, in that order, as the
// model alone would predict what it learned. Models of shards are means of such (train/shards.h): each shard is
// calibrated by units of its own, and a mean of predictions that are not calibrated has effects of mixed sizes. Costs
// those of the fits, and a few operations per number. It cannot be exported to ONNX.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/learn/calibration.h"
#include "dfcl/learn/mean_effect.h"
#include "dfcl/learn/part.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::learn {

struct WholeParts {
  std::size_t control = 0;
  std::vector<WeightedPredictor> fits;  // at least one
  std::optional<MeanEffect> mean_effect;
  std::optional<Calibration> calibration;
};

class WholePredictor final : public Predictor {
 public:
  explicit WholePredictor(WholeParts parts) : parts_(std::move(parts)) {}

  const WholeParts& parts() const { return parts_; }

  const char* kind() const override { return "whole"; }
  void predict(const FeatureTile& units, Outcomes out, core::RunContext& context) const override;
  std::vector<double> importance() const override;
  Description describe(const Schema& schema) const override;
  void require_fits(const Schema& schema, const std::string& where) const override;
  void save(PartWriter part) const override;

 private:
  WholeParts parts_;
};

// The reverse of save, for the list of learners. Throws Error of kind file.
std::unique_ptr<Predictor> load_whole(const PartReader& part);

}  // namespace dfcl::learn
