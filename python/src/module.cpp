// SPDX-License-Identifier: Apache-2.0
//
// The extension module dfcl._dfcl: the verbs of the library for the Python package beside it, which gives them their
// names, defaults and documentation. Figures leave as the JSON of the command line.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "dfcl/check/check.h"
#include "dfcl/core/version.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/launch/simulated_launch.h"
#include "dfcl/model/export_onnx.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/report/evaluation/results_report.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/report/launch/readout_report.h"
#include "dfcl/simulate/study_text.h"
#include "dfcl/train/methods.h"
#include "dfcl/verbs/allocate.h"
#include "dfcl/verbs/compare.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/predict.h"
#include "dfcl/verbs/readout.h"
#include "dfcl/verbs/simulate.h"
#include "dfcl/verbs/train.h"
#include "errors.h"
#include "keyword_style.h"
#include "run.h"
#include "tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace dfcl::python {
namespace {

using ModelPointer = std::shared_ptr<const model::Model>;

struct ModelHandle {
  ModelPointer model;
};

// Text that came from files and may not be UTF-8.
nb::str text(const std::string& bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void bind_run(nb::module_& module) {
  nb::class_<RunOptions>(module, "Run")
      .def(
          "__init__",
          [](RunOptions* self, int threads, std::uint64_t seed, nb::object tell) {
            new (self) RunOptions{threads, seed, std::move(tell)};
          },
          "threads"_a = 0, "seed"_a = 0, "tell"_a = nb::none());
}

void bind_study(nb::module_& module) {
  nb::class_<data::Study>(module, "Study")
      .def_static("parse", &io::parse_study, "text"_a, "where"_a, "folder"_a, "overrides"_a, "needs_trial"_a)
      .def_static("read", &io::read_study, "path"_a, "overrides"_a)
      .def_prop_ro("text", [](const data::Study& self) { return text(io::study_text(self)); })
      .def_ro("folder", &data::Study::folder)
      .def_prop_ro("trial", [](const data::Study& self) { return self.data.trial.value_or(""); })
      .def_prop_ro("control", [](const data::Study& self) { return self.arms.control.value_or(""); })
      .def_prop_ro("method", [](const data::Study& self) { return self.method.name; });
}

void bind_model(nb::module_& module) {
  nb::class_<ModelHandle>(module, "Model")
      .def_static("read",
                  [](const std::string& path) {
                    return ModelHandle{std::make_shared<const model::Model>(model::read_model(path))};
                  })
      .def_static("from_bytes",
                  [](const nb::bytes& bytes) {
                    const std::string_view view(bytes.c_str(), bytes.size());
                    const std::string where = "<bytes>";
                    return ModelHandle{std::make_shared<const model::Model>(
                        model::model_of(io::parse_safetensors(view, where), where))};
                  })
      .def("to_bytes",
           [](const ModelHandle& self) {
             const std::string bytes = io::safetensors_bytes(model::tensor_file_of(*self.model));
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("write", [](const ModelHandle& self, const std::string& path) { model::write_model(path, *self.model); })
      .def("to_onnx",
           [](const ModelHandle& self) {
             const std::string bytes = model::onnx_bytes(*self.model);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("json", [](const ModelHandle& self) { return text(report::model_json(*self.model)); })
      .def("text", [](const ModelHandle& self) { return text(report::model_text(*self.model, "model")); })
      .def_prop_ro("method", [](const ModelHandle& self) { return self.model->method; })
      .def_prop_ro("seed", [](const ModelHandle& self) { return self.model->seed; })
      .def_prop_ro("study", [](const ModelHandle& self) { return text(self.model->study); })
      .def_prop_ro("record", [](const ModelHandle& self) { return text(self.model->record); })
      .def_prop_ro("arms", [](const ModelHandle& self) { return self.model->arms.labels; })
      .def_prop_ro("control", [](const ModelHandle& self) { return self.model->arms.labels[self.model->arms.control]; })
      .def_prop_ro("features",
                   [](const ModelHandle& self) {
                     std::vector<std::string> names;
                     for (const data::FeatureColumn& column : self.model->features) names.push_back(column.name);
                     return names;
                   })
      .def_prop_ro("fingerprint", [](const ModelHandle& self) { return model::fingerprint_of(*self.model); })
      .def_prop_ro("is_index", [](const ModelHandle& self) { return self.model->is_index(); });
}

auto check(const data::Study& study, const std::string& trial, const RunOptions& options) {
  const check::CheckResult result = run(options, [&](core::RunContext& context) {
    return check::check_trial(io::read_trial(verbs::with_trial(study, trial), context), study, context);
  });
  return std::make_tuple(text(report::check_json(result)), text(report::check_text(result)));
}

ModelHandle train(const data::Study& study, const std::string& trial, const std::string& checkpoint,
                  const std::string& cache, double time_budget, bool force, const ModelHandle* start,
                  const RunOptions& options) {
  const verbs::TrainRequest request{.study = study,
                                    .trial = trial,
                                    .checkpoint_folder = checkpoint,
                                    .cache_folder = cache,
                                    .time_budget_seconds = time_budget,
                                    .force = force,
                                    .start = start == nullptr ? nullptr : start->model.get(),
                                    .on_epoch = {},
                                    .on_out_of_bag = {}};
  return run(options, [&](core::RunContext& context) {
    return ModelHandle{std::make_shared<const model::Model>(verbs::train(request, context))};
  });
}

PredictionTable predict(const ModelHandle& model, const std::string& units, const RunOptions& options) {
  return run(options, [&](core::RunContext& context) {
    data::Prediction prediction = model::predict_file(*model.model, units, context);
    return PredictionTable{std::make_shared<const data::Prediction>(std::move(prediction)),
                           verbs::prediction_provenance(*model.model)};
  });
}

// Predictions of the caller's own.
PredictionTable read_prediction(const std::string& path, const RunOptions& options) {
  return run(options, [&](core::RunContext& context) {
    io::PredictionTable table = io::read_prediction(path, "", context);
    return PredictionTable{std::make_shared<const data::Prediction>(std::move(table.prediction)),
                           io::read_provenance(path)};
  });
}

void bind_allocate(nb::module_& module) {
  using Request = verbs::AllocateRequest;
  nb::class_<Request>(module, "AllocateRequest")
      .def(nb::init<>())
      .def_rw("predictions", &Request::predictions)
      .def_rw("units", &Request::units)
      .def("set_prediction", [](Request& self, const PredictionTable& table) { self.prediction = table.prediction; })
      .def("set_model", [](Request& self, const ModelHandle& model) { self.model = model.model; })
      .def_rw("output", &Request::output)
      .def_rw("totals", &Request::totals)
      .def_rw("per_unit", &Request::per_unit)
      .def_rw("share_of_max", &Request::share_of_max)
      .def_rw("multiplier", &Request::multiplier, nb::arg().none())
      .def_rw("curve_points", &Request::curve_points)
      .def_rw("control", &Request::control)
      .def_rw("objective", &Request::objective)
      .def_rw("margin", &Request::margin, nb::arg().none())
      .def_rw("min_roi", &Request::min_roi, nb::arg().none())
      .def_rw("eligible", &Request::eligible)
      .def_rw("segment", &Request::segment)
      .def_rw("segment_budgets", &Request::segment_budgets)
      .def_rw("second_cost", &Request::second_cost)
      .def_rw("second_budget", &Request::second_budget, nb::arg().none())
      .def_rw("min_units", &Request::min_units)
      .def_rw("max_units", &Request::max_units)
      .def_rw("stream", &Request::stream)
      .def_rw("holdout", &Request::holdout)
      .def_rw("explore", &Request::explore)
      .def_rw("holdout_salt", &Request::holdout_salt)
      .def_rw("launch", &Request::launch)
      .def_rw("previous", &Request::previous);
  nb::class_<verbs::KeptPlan>(module, "Plan")
      .def_prop_ro("num_units", [](const verbs::KeptPlan& self) { return self.plan->num_units(); })
      .def_prop_ro("arms", [](const verbs::KeptPlan& self) { return self.plan->arms; })
      .def_prop_ro("arm",
                   [](nb::handle_t<verbs::KeptPlan> self) {
                     const auto& arm = nb::cast<const verbs::KeptPlan&>(self).plan->arm;
                     return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(arm.data(), {arm.size()}, self);
                   })
      .def("stream",
           [](const verbs::KeptPlan& self) {
             data::Provenance provenance = self.provenance;
             for (const auto& figure : self.figures) provenance.options.push_back(figure);
             return stream_capsule(data::batches_of(self.plan), provenance);
           })
      .def("write", [](const verbs::KeptPlan& self, const std::string& path) {
        const nb::gil_scoped_release release;
        verbs::write_plan(path, self);
      });
  // JSON, text, and a plan (or None) for each budget; of a curve, JSON and text.
  module.def("allocate", [](Request& request, const RunOptions& options) {
    request.keep_plans = true;
    const verbs::AllocateResult result =
        run(options, [&](core::RunContext& context) { return verbs::allocate(request, context); });
    nb::list figures;
    nb::list plans;
    if (result.curve) {
      figures.append(nb::make_tuple(text(report::curve_json(*result.curve, result.arms)),
                                    text(report::curve_text(*result.curve, result.arms))));
    }
    for (std::size_t i = 0; i < result.plans.size(); ++i) {
      figures.append(
          nb::make_tuple(text(report::plans_json({result.plans[i]})), text(report::plans_text({result.plans[i]}))));
      if (result.kept[i].plan == nullptr) {
        plans.append(nb::none());
      } else {
        plans.append(nb::cast(result.kept[i]));
      }
    }
    return std::make_tuple(figures, plans);
  });
}

void bind_evaluate(nb::module_& module) {
  using Request = verbs::EvaluateRequest;
  nb::class_<verbs::Contender>(module, "Contender")
      .def_static("of_path", [](const std::string& path,
                                const std::string& name) { return verbs::Contender{.path = path, .name = name}; })
      .def_static("of_model",
                  [](const ModelHandle& model, const std::string& name) {
                    return verbs::Contender{.path = name, .model = model.model, .name = name};
                  })
      .def_static("of_prediction", [](const PredictionTable& table, const std::string& name) {
        verbs::Contender contender{.path = name, .prediction = table.prediction, .name = name};
        for (const auto& [key, value] : table.provenance.options) {
          if (key == "method") contender.method = value;
          if (key == "revenue_is_index") contender.is_index = value == "true";
        }
        return contender;
      });
  nb::class_<Request>(module, "EvaluateRequest")
      .def(nb::init<>())
      .def_rw("study", &Request::study)
      .def_rw("trial", &Request::trial)
      .def_rw("contenders", &Request::contenders)
      .def_rw("split", &Request::split)
      .def_rw("estimator", &Request::estimator)
      .def_rw("nuisance", &Request::nuisance)
      .def_rw("truth", &Request::truth)
      .def_rw("totals", &Request::totals)
      .def_rw("per_unit", &Request::per_unit)
      .def_rw("share_of_max", &Request::share_of_max)
      .def_rw("levels", &Request::levels)
      .def_rw("ranking", &Request::ranking)
      .def_rw("resamples", &Request::resamples)
      .def_rw("intervals", &Request::intervals)
      .def_rw("weights", &Request::weights)
      .def_rw("segments", &Request::segments)
      .def_rw("allow_training_rows", &Request::allow_training_rows);
  module.def("evaluate", [](const Request& request, const RunOptions& options) {
    const verbs::EvaluateResult result =
        run(options, [&](core::RunContext& context) { return verbs::evaluate(request, context); });
    return std::make_tuple(text(report::evaluation_json(result.report)), text(report::evaluation_text(result.report)),
                           result.fit);
  });
}

void bind_compare(nb::module_& module) {
  using Request = verbs::CompareRequest;
  nb::class_<Request>(module, "CompareRequest")
      .def(nb::init<>())
      .def_rw("study", &Request::study)
      .def_rw("trial", &Request::trial)
      .def_rw("folder", &Request::folder)
      .def_rw("resamples", &Request::resamples)
      .def_rw("truth", &Request::truth)
      .def_rw("segments", &Request::segments)
      .def_rw("force", &Request::force);
  module.def("compare", [](const Request& request, const RunOptions& options) {
    const verbs::CompareResult result =
        run(options, [&](core::RunContext& context) { return verbs::compare(request, context); });
    return std::make_tuple(text(result.json), text(report::comparison_text(result.report, result.times)));
  });
}

auto readout(const std::string& plan, const std::string& outcomes, std::optional<double> holdout_share,
             const std::string& control, const std::string& launch, std::optional<double> budget,
             std::optional<double> multiplier, const RunOptions& options) {
  const verbs::ReadoutRequest request{plan, outcomes, holdout_share, control, launch, budget, multiplier};
  const verbs::ReadoutResult result =
      run(options, [&](core::RunContext& context) { return verbs::read_out(request, context); });
  return std::make_tuple(text(report::readout_json(result.readout, result.provenance)),
                         text(report::readout_text(result.readout)));
}

void bind_simulate(nb::module_& module) {
  using Options = simulate::SimulatorOptions;
  nb::class_<Options>(module, "SimulatorOptions")
      .def("__init__",
           [](Options* self, const std::string& preset, const std::string& response) {
             new (self) Options{.preset = simulate::preset_of(preset), .response = simulate::response_of(response)};
           })
      .def_rw("num_rows", &Options::num_rows)
      .def_rw("seed", &Options::seed)
      .def_rw("num_days", &Options::num_days)
      .def_rw("shares", &Options::shares)
      .def_rw("noise", &Options::noise)
      .def_rw("cost_scale", &Options::cost_scale)
      .def_rw("population_shift", &Options::population_shift)
      .def_rw("imbalance", &Options::imbalance);
  // The trial, the truth and the text of a study without a path.
  module.def("simulate", [](const Options& wanted, const RunOptions& options) {
    const simulate::Simulator simulator(wanted);
    const verbs::SimulatedTables tables =
        run(options, [&](core::RunContext& context) { return verbs::simulate_tables(simulator, context); });
    return std::make_tuple(PlainTable{tables.trial, verbs::simulation_provenance(simulator, "trial")},
                           PlainTable{tables.truth, verbs::simulation_provenance(simulator, "truth")},
                           text(simulate::study_text(simulator, "trial.parquet")));
  });
  // What the units of a plan earn and cost.
  module.def("simulate_outcomes", [](Options wanted, const std::string& plan_path, const RunOptions& options) {
    wanted.outcome_seed = 1;
    const simulate::Simulator simulator(wanted);
    data::Table table{launch::outcome_columns(), {}};
    table.batches.push_back(run(options, [&](core::RunContext& context) {
      return launch::simulate_outcomes(simulator, io::read_plan(plan_path, context).plan, context);
    }));
    return PlainTable{std::make_shared<const data::Table>(std::move(table)),
                      verbs::simulation_provenance(simulator, "outcomes")};
  });
}

std::string render(const std::string& results, const std::string& where, const std::string& format) {
  const auto wanted = format == "html" ? report::ResultsFormat::html
                      : format == "md" ? report::ResultsFormat::markdown
                                       : report::ResultsFormat::text;
  return report::render_results(results, where, wanted);
}

std::vector<std::tuple<std::string, std::string>> methods() {
  std::vector<std::tuple<std::string, std::string>> all;
  for (const train::Method& method : train::all_methods()) all.emplace_back(method.name, method.summary);
  return all;
}

}  // namespace
}  // namespace dfcl::python

NB_MODULE(_dfcl, module) {
  using namespace dfcl::python;
  translate_errors();
  bind_run(module);
  bind_study(module);
  bind_model(module);
  bind_tables(module);
  bind_allocate(module);
  bind_evaluate(module);
  bind_compare(module);
  bind_simulate(module);
  module.def("check", &check, "study"_a, "trial"_a, "run"_a);
  module.def("train", &train, "study"_a, "trial"_a, "checkpoint"_a, "cache"_a, "time_budget"_a, "force"_a,
             "start"_a.none(), "run"_a);
  module.def("predict", &predict, "model"_a, "units"_a, "run"_a);
  module.def("read_prediction", &read_prediction, "path"_a, "run"_a);
  module.def("readout", &readout, "plan"_a, "outcomes"_a, "holdout_share"_a.none(), "control"_a, "launch"_a,
             "budget"_a.none(), "multiplier"_a.none(), "run"_a);
  module.def("render", &render, "results"_a, "where"_a, "format"_a);
  module.def("methods", &methods);
  module.def("set_keywords", &set_keywords, "keyword_of_key"_a);
  module.def("version", &dfcl::core::version);
}
