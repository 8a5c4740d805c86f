// SPDX-License-Identifier: Apache-2.0
//
// From a model and units to what each is expected to earn and cost under every arm: the weighted mean of the model's
// predictors, in the study's currency. The numbers of a unit depend on nothing but its features: not on batches,
// threads or neighbours. Memory: about 1 MB a thread beside the results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/data/ids.h"
#include "dfcl/data/prediction.h"
#include "dfcl/io/trial/unit_reader.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

// What is asked of a model: outcomes, or (where it is one predictor that knows them) the standard errors of the arms'
// effects over control, in the same shape; those of control are 0.
enum class Figure : std::uint8_t { outcomes, standard_errors };

// Throws Error of kind usage where the model does not know the figure.
void require_figure(const Model& model, Figure figure);

// features: units x features, in the model's columns and codes. revenue and cost: units x arms. Serial where it is
// called from inside a parallel loop.
void predict(const Model& model, core::MatrixView<const float> features, core::MatrixView<float> revenue,
             core::MatrixView<float> cost, core::RunContext& context, Figure figure = Figure::outcomes);

// The same of a tile of units, as it was learned: without what is known about costs.
void predict_learned(const Model& model, const learn::FeatureTile& units, learn::Outcomes out,
                     core::RunContext& context);

// What the predictions of a model are: its arms and control, whether their revenue is an index, its fingerprint.
data::PredictionFacts prediction_facts(const Model& model);

// For units in memory. Throws Error of kind data where their columns are not the model's.
data::Prediction predict(const Model& model, const data::Features& features, data::Ids ids, core::RunContext& context);

// What io::UnitReader needs to read units for a model.
io::UnitSchema unit_schema(const Model& model);

// For units in files (a file, a glob or a folder), in pieces as they were read; consume is called in the order of the
// files by one thread at a time. Memory: a piece a thread.
void predict_units(const Model& model, io::UnitReader& units, const std::function<void(data::Prediction)>& consume,
                   core::RunContext& context, Figure figure = Figure::outcomes, FeatureCounts* counts = nullptr);

// The same, kept in memory. counts: of the model's summaries; the features of all units are added, here and above.
data::Prediction predict_file(const Model& model, const std::string& units_path, core::RunContext& context,
                              FeatureCounts* counts = nullptr);

}  // namespace dfcl::model
