// SPDX-License-Identifier: Apache-2.0
//
// One or more networks for tables behind one encoding: features in, the mean over networks and their members out, in
// the study's currency. Memory: 8 bytes a parameter, and about 2 MB for each thread that has ever predicted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/learn/part.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/nn/table/table_runner.h"

namespace dfcl::nn {

inline constexpr std::int64_t kUsualMembers = 8;

// All that a predictor of networks for tables is made of.
struct TableParts {
  TableEncoding encoding;
  TableOptions options;                      // of every network
  std::vector<std::vector<float>> networks;  // parameters; predictions are averaged
  learn::Scales scales;
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;  // revenue is an index where it is another
  double efficiency_cost_scale = 1.0;                           // what the loss multiplied costs by (eq. 13, 14)
};

// Throws Error of kind file where the parts do not fit each other or the schema.
void require_consistent(const TableParts& parts, const learn::Schema& schema, const std::string& where);

class TablePredictor final : public learn::Predictor {
 public:
  explicit TablePredictor(TableParts parts);

  const TableParts& parts() const { return parts_; }

  const char* kind() const override { return "table network"; }
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
  void add_network(const std::vector<float>& parameters);
  void run(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
           core::RunContext& context) const;

  TableParts parts_;
  std::vector<std::unique_ptr<TableNetwork<float>>> networks_;
  std::unique_ptr<TableRunner> runner_;
};

// The reverse of save, for the list of learners. Throws Error of kind file.
std::unique_ptr<learn::Predictor> load_table_network(const learn::PartReader& part);

}  // namespace dfcl::nn
