// SPDX-License-Identifier: Apache-2.0
//
// One or more networks of one shape behind one preprocessing: features in, the mean of the networks' predictions out,
// in the study's currency. Memory: 8 bytes a parameter, and about 1 MB for each thread that has ever predicted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/learn/part.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/nn/inputs/preprocessing.h"
#include "dfcl/nn/outcome_network.h"

namespace dfcl::nn {

// What a network may have: layers of at most this width, and this many inputs and hidden units in all, which bounds the
// memory of a tile of rows at 256 MiB or so a thread, whatever a file says.
inline constexpr std::size_t kMostWidth = 8192;
inline constexpr std::size_t kMostNeurons = std::size_t{1} << 18;

// Inputs and hidden units. Throws Error of kind usage where the outcomes' options contradict themselves.
std::size_t num_neurons(const OutcomeNetworkOptions& network);

// All that a predictor of networks is made of.
struct NetworkParts {
  Preprocessing preprocessing;
  OutcomeNetworkOptions network;            // of every member
  std::vector<std::vector<float>> members;  // parameters; predictions are averaged over members
  learn::Scales scales;
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;  // revenue is an index where it is another
  double efficiency_cost_scale = 1.0;                           // what the loss multiplied costs by (eq. 13, 14)
};

// Throws Error of kind file where the parts do not fit each other or the schema.
void require_consistent(const NetworkParts& parts, const learn::Schema& schema, const std::string& where);

class NetworkPredictor final : public learn::Predictor {
 public:
  explicit NetworkPredictor(NetworkParts parts);
  ~NetworkPredictor() override;

  const NetworkParts& parts() const { return parts_; }

  const char* kind() const override { return "network"; }
  void predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const override;
  void predict_scaled(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
                      core::RunContext& context) const override;
  bool is_index() const override { return parts_.revenue_form != loss::RevenueForm::outcome; }
  bool join(const learn::Predictor& other) override;
  std::optional<learn::Origin> origin() const override;
  learn::Description describe(const learn::Schema& schema) const override;
  void require_fits(const learn::Schema& schema, const std::string& where) const override;
  void save(learn::PartWriter part) const override;
  learn::GraphOutcomes add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                    const std::vector<double>& missing) const override;

 private:
  struct Tile;
  void add_member(const std::vector<float>& parameters);
  void run(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
           core::RunContext& context) const;
  void predict_tile(Tile& tile, const learn::FeatureTile& units, const learn::Scales& scales,
                    learn::Outcomes out) const;

  NetworkParts parts_;
  std::vector<OutcomeNetwork<float>> networks_;
  std::unique_ptr<WorkspacePool<Tile>> tiles_;
};

// The reverse of save, for the list of learners. Throws Error of kind file.
std::unique_ptr<learn::Predictor> load_network(const learn::PartReader& part);

}  // namespace dfcl::nn
