// SPDX-License-Identifier: Apache-2.0
//
// Boosted trees behind the seam for learners: the mean of the bags' predictions, each through the link of its outcome.
// All arms of a block of units go through each tree together (leaf_masks.h). Memory: the trees twice, as they are kept
// and as they are run, about 2 kB a tree of 31 leaves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/boost/boost_parts.h"
#include "dfcl/boost/leaf_masks.h"
#include "dfcl/learn/part.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::boost {

class BoostPredictor final : public learn::Predictor {
 public:
  // Throws Error of kind file where the parts do not fit each other; `where` names the model.
  explicit BoostPredictor(BoostParts parts, const std::string& where = "");

  const BoostParts& parts() const { return parts_; }

  const char* kind() const override { return "boost"; }
  void predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const override;
  std::vector<double> importance() const override;
  learn::Description describe(const learn::Schema& schema) const override;
  void require_fits(const learn::Schema& schema, const std::string& where) const override;
  void save(learn::PartWriter part) const override;
  learn::GraphOutcomes add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                    const std::vector<double>& missing) const override;

 private:
  struct Runner {
    std::vector<float> base;
    std::vector<LeafMasks> trees;
  };
  void predict_outcome(const std::vector<Runner>& bags, const learn::OutcomeFacts& facts,
                       const learn::OutcomeScale& scale, const BlockColumns& columns,
                       core::MatrixView<float> out) const;

  BoostParts parts_;
  std::vector<Runner> revenue_, cost_;
  std::vector<std::uint32_t> columns_;  // features that trees look at
};

// The reverse of save, for the list of learners. Throws Error of kind file.
std::unique_ptr<learn::Predictor> load_boost(const learn::PartReader& part);

}  // namespace dfcl::boost
