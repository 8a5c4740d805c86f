// SPDX-License-Identifier: Apache-2.0
//
// dfcl predict: from a model and units to what each would earn and cost under every arm.
#include "dfcl/verbs/predict.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/model/study_words.h"
#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"
#include "dfcl/train/methods.h"

namespace dfcl::cli {
namespace {

int run_predict(const verbs::PredictRequest& request, const Session& session, core::RunContext& context) {
  const verbs::PredictResult result = verbs::predict(request, context);
  const model::Model& model = *result.model;
  if (session.json()) {
    std::vector<std::string> drifting;
    for (const model::FeatureDrift& one : result.drift) {
      if (one.drifts()) drifting.push_back(one.feature);
    }
    fmt::print("{}\n", nlohmann::ordered_json{{"units", result.num_units},
                                              {"arms", model.arms.labels},
                                              {"revenue_is_index", model.is_index()},
                                              {"drifting_features", drifting}}
                           .dump(2));
  } else {
    const report::Wording wording(model::study_words(model));
    session.show(
        report::wrap(fmt::format("{}: predictions of {}, {}, for {} under {} arms", *request.output, request.model,
                                 train::method_words(model.method), wording.count(result.num_units), model.arms.size()),
                     0) +
        "\n");
  }
  return 0;
}

}  // namespace

void add_predict(Session& session) {
  const auto request = std::make_shared<verbs::PredictRequest>();
  CLI::App& verb = session.add_verb(
      "predict",
      "what each unit would earn and cost under every arm, by a model\n"
      "Streams, so any number of units fits. Columns that the model does not know are not read.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 3 --seed 1 -o model.safetensors\n"
      "dfcl predict model.safetensors trial.parquet -o predictions.parquet",
      [request, &session](core::RunContext& context) { return run_predict(*request, session, context); });
  verb.add_option("MODEL", request->model, "a model file")->required();
  verb.add_option("UNITS", request->units, "the units: csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  add_field(verb, "-o,--output", request->output, "the predictions to write: .parquet, .csv, .csv.gz or .arrow")
      ->required();
  add_field(verb, "--uncertainty", request->uncertainty,
            "for a forest: also write the standard errors of the arms' effects over control\n"
            "A file with the columns of the predictions.");
  add_field(verb, "--drift", request->drift,
            "write how each feature differs from that of the training units\n"
            "A table of feature, statistic (population stability index, share missing, share of rare or unseen\n"
            "levels), training, now, the limit beyond which a change counts as drift, and whether it does.");
}

}  // namespace dfcl::cli
