// SPDX-License-Identifier: Apache-2.0
//
// What a learner yields: from the features of units to what each is expected to earn and cost under every arm.
// Whatever learns is a peer behind this; only dfcl/model/learners.cpp lists their kinds. The
// numbers of a unit depend on nothing but its features: not on tiles, threads or neighbours. Called for a tile or a
// whole table, never for one unit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/loss/efficiency.h"

namespace dfcl::io {
class OnnxGraph;
}

namespace dfcl::learn {

class PartWriter;

// Units as they were read: all rows of a table, or chosen ones.
struct FeatureTile {
  core::MatrixView<const float> values;      // rows x features
  std::span<const std::uint32_t> rows = {};  // the units among them; empty: all

  std::size_t size() const { return rows.empty() ? values.rows : rows.size(); }
  FeatureTile slice(std::size_t first, std::size_t count) const {
    if (rows.empty()) return {values.slice(first, count)};
    return {values, rows.subspan(first, count)};
  }
};

// units x arms each.
struct Outcomes {
  core::MatrixView<float> revenue;
  core::MatrixView<float> cost;
  Outcomes slice(std::size_t first, std::size_t count) const {
    return {revenue.slice(first, count), cost.slice(first, count)};
  }
};

// What a predictor is for: the arms and the columns of its units.
struct Schema {
  const data::Arms& arms;
  const std::vector<data::FeatureColumn>& features;
};

// What a fit that starts from a predictor must keep, because its numbers mean something only with these.
struct Origin {
  Facts facts;
  Scales scales;
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;
  double efficiency_cost_scale = 1.0;
  std::size_t num_members = 1;  // of which each fit takes one
};

// A predictor in words and figures, for people and for programs.
struct Description {
  Facts facts;
  Scales scales;
  std::vector<std::pair<std::string, std::string>> lines;  // name, text; in the order to show them
  std::string json = "{}";  // an object; its members become members of the description of the model
};

// Values of a graph: units x arms each.
struct GraphOutcomes {
  std::string revenue;
  std::string cost;
};

class Predictor {
 public:
  virtual ~Predictor() = default;

  // The word for it in model files, as in the list of learners.
  virtual const char* kind() const = 0;

  // In the study's currency. By all threads, or serially where it is called from inside a parallel loop.
  virtual void predict(const FeatureTile& units, Outcomes out, core::RunContext& context) const = 0;

  // The same on these scales, as losses see predictions. Learners that work on them override it, to save the rounding
  // of the way there and back.
  virtual void predict_scaled(const FeatureTile& units, const Scales& scales, Outcomes out,
                              core::RunContext& context) const;

  // Revenue ranks decisions and is no forecast.
  virtual bool is_index() const { return false; }

  // Standard errors of the arms' effects over control, in the study's currency; those of control are 0. Throws Error of
  // kind usage where the predictor does not know them; so does require_standard_errors, before any work.
  virtual void require_standard_errors() const;
  virtual void standard_errors(const FeatureTile& units, Outcomes out, core::RunContext& context) const;

  // Of each feature, its share in how effects differ; empty where the predictor does not know.
  virtual std::vector<double> importance() const { return {}; }

  // Takes over another predictor of the same kind, so that both run as one and predict their mean. False where they
  // cannot; nothing happens then.
  virtual bool join(const Predictor&) { return false; }

  // Nothing where no fit can start from it.
  virtual std::optional<Origin> origin() const { return std::nullopt; }

  virtual Description describe(const Schema& schema) const = 0;

  // Throws Error of kind file where the parts do not fit each other or the schema; `where` names the model.
  virtual void require_fits(const Schema& schema, const std::string& where) const = 0;

  // The reverse is a function of the learner's room, in the list of learners.
  virtual void save(PartWriter part) const = 0;

  // Adds itself to a graph whose inputs are the columns of the schema, named as they are. missing: codes that mean
  // missing. Throws Error of kind unavailable where it cannot.
  virtual GraphOutcomes add_to_graph(io::OnnxGraph& graph, const Schema& schema,
                                     const std::vector<double>& missing) const;
};

// One of several predictors whose predictions are averaged.
struct WeightedPredictor {
  std::shared_ptr<const Predictor> predictor;
  double weight = 1.0;
};

// The weighted mean of the predictions; of one predictor, exactly its own. Memory: two tables of a block of units where
// there is more than one.
void predict_mean(std::span<const WeightedPredictor> predictors, const FeatureTile& units, Outcomes out,
                  core::RunContext& context);

// As few predictors as can stand for these, equally weighted: those that can run as one are joined.
std::vector<WeightedPredictor> joined(std::vector<std::unique_ptr<Predictor>> predictors);

}  // namespace dfcl::learn
