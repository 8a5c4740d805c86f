// SPDX-License-Identifier: Apache-2.0
//
// dfcl predict: from a model and units to what each would earn and cost under every arm.
#include "dfcl/model/predict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/trial/unit_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/verbs/predict.h"

namespace dfcl::cli {
namespace {

struct PredictFlags {
  std::string model;
  std::string units;
  std::string output;
  std::string uncertainty;
};

// Writes what was asked for of every unit; returns their number.
std::size_t write_figure(const model::Model& model, const PredictFlags& flags, model::Figure figure,
                         core::RunContext& context) {
  const std::string& output = figure == model::Figure::outcomes ? flags.output : flags.uncertainty;
  io::UnitReader units(flags.units, model::unit_schema(model), context);
  data::Provenance provenance = verbs::prediction_provenance(model);
  if (figure == model::Figure::standard_errors) provenance.options.emplace_back("figure", "standard errors of effects");
  std::optional<io::PredictionWriter> writer;
  std::size_t num_units = 0;
  model::predict_units(
      model, units,
      [&](data::Prediction piece) {
        if (!writer) writer.emplace(output, piece.arms, piece.ids.texts() == nullptr, provenance);
        num_units += piece.num_units();
        writer->write(piece);
        context.progress("predicting", num_units, 0, "units");
      },
      context, figure);
  context.finished("predicting");
  if (!writer) throw core::Error({.kind = core::ErrorKind::data, .what = "no units", .where = flags.units});
  writer->commit();
  return num_units;
}

int run_predict(const PredictFlags& flags, bool as_json, core::RunContext& context) {
  (void)io::format_of_name(flags.output);
  const model::Model model = model::read_model(flags.model);
  require_output(flags.output, {flags.model, flags.units});
  if (!flags.uncertainty.empty()) {
    (void)io::format_of_name(flags.uncertainty);
    require_output(flags.uncertainty, {flags.model, flags.units});
    require_other_file("--uncertainty", flags.uncertainty, flags.output);
    model::require_figure(model, model::Figure::standard_errors);  // or says why not, before any work
  }
  const std::size_t num_units = write_figure(model, flags, model::Figure::outcomes, context);
  if (!flags.uncertainty.empty()) write_figure(model, flags, model::Figure::standard_errors, context);
  if (as_json) {
    fmt::print("{}\n",
               nlohmann::ordered_json{
                   {"units", num_units}, {"arms", model.arms.labels}, {"revenue_is_index", model.is_index()}}
                   .dump(2));
  } else {
    fmt::print("{}: predictions of {} ({}) for {} units under {} arms\n", flags.output, flags.model,
               core::printable(model.method), num_units, model.arms.size());
  }
  return 0;
}

}  // namespace

void add_predict(Session& session) {
  const auto flags = std::make_shared<PredictFlags>();
  CLI::App& verb = session.add_verb(
      "predict",
      "what each unit would earn and cost under every arm, by a model\n"
      "Streams, so that any number of units will do. Columns that the model does not know are not read.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 3 --seed 1 -o model.safetensors\n"
      "dfcl predict model.safetensors trial.parquet -o predictions.parquet",
      [flags, &session](core::RunContext& context) { return run_predict(*flags, session.json(), context); });
  verb.add_option("MODEL", flags->model, "a model file")->required();
  verb.add_option("UNITS", flags->units, "the units: csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  verb.add_option("-o,--output", flags->output, "the predictions to write: .parquet, .csv, .csv.gz or .arrow")
      ->required();
  verb.add_option("--uncertainty", flags->uncertainty,
                  "for a forest: also write the standard errors of the arms' effects over control\n"
                  "A file with the columns of the predictions.");
}

}  // namespace dfcl::cli
