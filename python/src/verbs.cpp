// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "dfcl/report/check/check_report.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/report/files/table_report.h"
#include "dfcl/report/launch/deploy_report.h"
#include "dfcl/report/launch/readout_report.h"
#include "dfcl/verbs/allocate.h"
#include "dfcl/verbs/check.h"
#include "dfcl/verbs/compare.h"
#include "dfcl/verbs/deploy.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/export_model.h"
#include "dfcl/verbs/info.h"
#include "dfcl/verbs/init.h"
#include "dfcl/verbs/power.h"
#include "dfcl/verbs/predict.h"
#include "dfcl/verbs/readout.h"
#include "dfcl/verbs/report.h"
#include "dfcl/verbs/simulate.h"
#include "dfcl/verbs/train.h"
#include "fields.h"
#include "run.h"
#include "tables.h"

namespace nb = nanobind;

namespace dfcl::python {
namespace {

using report::Length;

void bind_init(nb::module_& module) {
  using Request = verbs::InitRequest;
  RequestFields<Request>()
      .add("trial", &Request::trial)
      .add("output", &Request::output)
      .add("arm", &Request::arm)
      .add("control", &Request::control)
      .add("revenue", &Request::revenue)
      .add("cost", &Request::cost)
      .bind(module, "InitRequest");
  // The text of a study file, and for each key that is unsure the reason.
  module.def("init", [](const Request& request, const RunOptions& options) {
    const verbs::InitResult result =
        run(options, [&](core::RunContext& context) { return verbs::init(request, context); });
    nb::typed<nb::dict, nb::str, nb::str> unsure;
    for (const auto& [key, reason] : result.unsure) unsure[key.c_str()] = text(reason);
    return std::make_tuple(text(result.text), unsure);
  });
}

void bind_simulate(nb::module_& module) {
  using Request = verbs::SimulateRequest;
  RequestFields<Request>()
      .add("preset", &Request::preset)
      .add("response", &Request::response)
      .add("rows", &Request::rows)
      .add("days", &Request::days)
      .add("shares", &Request::shares)
      .add("noise", &Request::noise)
      .add("cost_scale", &Request::cost_scale)
      .add("population_shift", &Request::population_shift)
      .add("imbalance", &Request::imbalance)
      .add("outcomes_of", &Request::outcomes_of)
      .bind(module, "SimulateRequest");
  // The trial, the truth and the text of a study; of a plan, its outcomes.
  module.def("simulate", [](Request& request, const RunOptions& options) -> nb::object {
    request.keep = true;
    const verbs::SimulateResult result =
        run(options, [&](core::RunContext& context) { return verbs::simulate(request, context); });
    if (request.outcomes_of) return nb::cast(PlainTable{result.outcomes.table, result.outcomes.provenance});
    return nb::cast(std::make_tuple(PlainTable{result.trial.table, result.trial.provenance},
                                    PlainTable{result.truth.table, result.truth.provenance}, text(result.study_text)));
  });
}

void bind_check(nb::module_& module) {
  using Request = verbs::CheckRequest;
  RequestFields<Request>()
      .add_study(&Request::study)
      .add("split_out", &Request::split_out)
      .bind(module, "CheckRequest");
  module.def("check", [](const Request& request, const RunOptions& options) {
    const check::CheckResult result =
        run(options, [&](core::RunContext& context) { return verbs::check(request, context); });
    return screens(report::check_json(result), [&](Length length) { return report::check_text(result, length); });
  });
}

void bind_train(nb::module_& module) {
  using Request = verbs::TrainRequest;
  RequestFields<Request>()
      .add_study(&Request::study)
      .add("output", &Request::output)
      .add("start_from", &Request::start_from)
      .add("start_model", &Request::start_model)
      .add("checkpoint", &Request::checkpoint)
      .add("cache", &Request::cache)
      .add("memory", &Request::memory)
      .add("out_of_bag", &Request::out_of_bag)
      .add("log", &Request::log)
      .add("time_budget", &Request::time_budget)
      .add("device", &Request::device)
      .add("precision", &Request::precision)
      .add("force", &Request::force)
      .bind(module, "TrainRequest");
  module.def("train", [](Request request, const RunOptions& options) {
    request.is_enough = [enough = options.enough] { return enough->load(); };
    return run(options, [&](core::RunContext& context) {
      return ModelHandle{std::make_shared<const model::Model>(verbs::train(request, context))};
    });
  });
}

void bind_predict(nb::module_& module) {
  using Request = verbs::PredictRequest;
  RequestFields<Request>()
      .add("model", &Request::model)
      .add("in_memory", &Request::in_memory)
      .add("units", &Request::units)
      .add("output", &Request::output)
      .add("uncertainty", &Request::uncertainty)
      .add("drift", &Request::drift)
      .bind(module, "PredictRequest");
  module.def("predict", [](Request& request, const RunOptions& options) {
    request.keep = true;
    const verbs::PredictResult result =
        run(options, [&](core::RunContext& context) { return verbs::predict(request, context); });
    return PredictionTable{result.prediction, verbs::prediction_provenance(*result.model)};
  });
}

// Shares the memory of the plan.
nb::ndarray<nb::numpy, const float, nb::ndim<1>> numbers(nb::handle_t<verbs::KeptPlan> self,
                                                         std::vector<float> data::Plan::*member) {
  const std::vector<float>& values = (*nb::cast<const verbs::KeptPlan&>(self).plan).*member;
  return nb::ndarray<nb::numpy, const float, nb::ndim<1>>(values.data(), {values.size()}, self);
}

void bind_plan(nb::module_& module) {
  nb::class_<verbs::KeptPlan>(module, "Plan")
      .def_prop_ro("num_units", [](const verbs::KeptPlan& self) { return self.plan->num_units(); })
      .def_prop_ro("arms", [](const verbs::KeptPlan& self) { return self.plan->arms; })
      .def_prop_ro("arm",
                   [](nb::handle_t<verbs::KeptPlan> self) {
                     const auto& arm = nb::cast<const verbs::KeptPlan&>(self).plan->arm;
                     return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(arm.data(), {arm.size()}, self);
                   })
      .def_prop_ro("extra", [](const verbs::KeptPlan& self) { return column_names(self.plan->extra.columns); })
      .def_prop_ro("num_options", [](const verbs::KeptPlan& self) { return self.provenance.options.size(); })
      .def_prop_ro("ids", [](const verbs::KeptPlan& self) { return ids_to_python(self.plan->ids); })
      .def_prop_ro("revenue", [](nb::handle_t<verbs::KeptPlan> self) { return numbers(self, &data::Plan::revenue); })
      .def_prop_ro("cost", [](nb::handle_t<verbs::KeptPlan> self) { return numbers(self, &data::Plan::cost); })
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
}

void bind_allocate(nb::module_& module) {
  using Request = verbs::AllocateRequest;
  RequestFields<Request>()
      .add("predictions", &Request::predictions)
      .add("units", &Request::units)
      .add("prediction", &Request::prediction)
      .add("model", &Request::model)
      .add("output", &Request::output)
      .add("budget", &Request::totals)
      .add("per_unit", &Request::per_unit)
      .add("share_of_max", &Request::share_of_max)
      .add("include_control", &Request::include_control)
      .add("multiplier", &Request::multiplier)
      .add("curve", &Request::curve)
      .add("control", &Request::control)
      .add("index", &Request::index)
      .add("objective", &Request::objective)
      .add("per_revenue", &Request::per_revenue)
      .add("margin", &Request::margin)
      .add("min_roi", &Request::min_roi)
      .add("eligible", &Request::eligible)
      .add("segment", &Request::segment)
      .add("segment_budgets", &Request::segment_budgets)
      .add("second_cost", &Request::second_cost)
      .add("second_budget", &Request::second_budget)
      .add("min_units", &Request::min_units)
      .add("max_units", &Request::max_units)
      .add("rule", &Request::rule)
      .add("stream", &Request::stream)
      .add("memory", &Request::memory)
      .add("explain", &Request::explain)
      .add("holdout", &Request::holdout)
      .add("explore", &Request::explore)
      .add("holdout_salt", &Request::holdout_salt)
      .add("launch", &Request::launch)
      .add("previous", &Request::previous)
      .bind(module, "AllocateRequest");
  // JSON, text, and a plan (or None) for each budget; of a curve, JSON and text.
  module.def("allocate", [](Request& request, const RunOptions& options) {
    request.keep_plans = true;
    const verbs::AllocateResult result =
        run(options, [&](core::RunContext& context) { return verbs::allocate(request, context); });
    nb::typed<nb::list, Screens> figures;
    nb::typed<nb::list, std::optional<verbs::KeptPlan>> plans;
    if (result.curve) {
      figures.append(screens(report::curve_json(*result.curve, result.arms), [&](Length length) {
        return report::curve_text(*result.curve, result.arms, result.words, length);
      }));
    }
    for (std::size_t i = 0; i < result.plans.size(); ++i) {
      figures.append(screens(report::plans_json({result.plans[i]}),
                             [&](Length length) { return report::plans_text({result.plans[i]}, length); }));
      if (result.kept[i].plan == nullptr) {
        plans.append(nb::none());
      } else {
        plans.append(nb::cast(result.kept[i]));
      }
    }
    return std::make_tuple(figures, plans);
  });
}

void bind_model_input(nb::module_& module) {
  using Input = verbs::ModelInput;
  nb::class_<Input>(module, "ModelInput")
      .def_static("of_path",
                  [](const std::string& path, const std::string& name) { return Input{.path = path, .name = name}; })
      .def_static("of_model",
                  [](const ModelHandle& model, const std::string& name) {
                    return Input{.path = name, .model = model.model, .name = name};
                  })
      .def_static("of_prediction", [](const PredictionTable& table, const std::string& name) {
        return Input{.path = name, .prediction = table.prediction, .name = name};
      });
}

void bind_evaluate(nb::module_& module) {
  using Request = verbs::EvaluateRequest;
  RequestFields<Request>()
      .add_study(&Request::study)
      .add("models", &Request::models)
      .add("index", &Request::index)
      .add("output", &Request::output)
      .add("split", &Request::split)
      .add("estimator", &Request::estimator)
      .add("nuisance", &Request::nuisance)
      .add("truth", &Request::truth)
      .add("budget", &Request::totals)
      .add("per_unit", &Request::per_unit)
      .add("share_of_max", &Request::share_of_max)
      .add("levels", &Request::levels)
      .add("ranking", &Request::ranking)
      .add("resamples", &Request::resamples)
      .add("intervals", &Request::intervals)
      .add("weights", &Request::weights)
      .add("segment", &Request::segments)
      .add("objective", &Request::objective)
      .add("min_roi", &Request::min_roi)
      .add("eligible", &Request::eligible)
      .add("allow_training_rows", &Request::allow_training_rows)
      .add("fitted_on", &Request::fitted_on)
      .add("test", [](Request& self, nb::handle value) { self.study.test = to_text("test", value); })
      .add("split_out", &Request::split_out)
      .add("memory", &Request::memory)
      .bind(module, "EvaluateRequest");
  module.def("evaluate", [](const Request& request, const RunOptions& options) {
    const verbs::EvaluateResult result =
        run(options, [&](core::RunContext& context) { return verbs::evaluate(request, context); });
    return screens(report::evaluation_json(result.report),
                   [&](Length length) { return report::evaluation_text(result.report, length); });
  });
}

void bind_compare(nb::module_& module) {
  using Request = verbs::CompareRequest;
  RequestFields<Request>()
      .add_study(&Request::study)
      .add("output", &Request::output)
      .add("resamples", &Request::resamples)
      .add("truth", &Request::truth)
      .add("segment", &Request::segments)
      .add("estimator", &Request::estimator)
      .add("test", [](Request& self, nb::handle value) { self.study.test = to_text("test", value); })
      .add("split_out", &Request::split_out)
      .add("device", &Request::device)
      .add("precision", &Request::precision)
      .add("force", &Request::force)
      .bind(module, "CompareRequest");
  module.def("compare", [](const Request& request, const RunOptions& options) {
    const verbs::CompareResult result =
        run(options, [&](core::RunContext& context) { return verbs::compare(request, context); });
    return screens(result.json,
                   [&](Length length) { return report::comparison_text(result.report, result.times, length); });
  });
}

void bind_deploy(nb::module_& module) {
  using Request = verbs::DeployRequest;
  RequestFields<Request>()
      .add_study(&Request::study)
      .add("output", &Request::output)
      .add("controller", &Request::controller)
      .add("checkpoint", &Request::checkpoint)
      .bind(module, "DeployRequest");
  module.def("deploy", [](const Request& request, const RunOptions& options) {
    const verbs::DeployResult result =
        run(options, [&](core::RunContext& context) { return verbs::deploy(request, context); });
    const bool with_controller = request.controller == verbs::Switch::on;
    return screens(result.json,
                   [&](Length length) { return report::deploy_text(result.deployment, with_controller, length); });
  });
}

void bind_readout(nb::module_& module) {
  using Request = verbs::ReadoutRequest;
  RequestFields<Request>()
      .add("plan", &Request::plan)
      .add("outcomes", &Request::outcomes)
      .add("output", &Request::output)
      .add("holdout_share", &Request::holdout_share)
      .add("control", &Request::control)
      .add("launch", &Request::launch)
      .add("budget", &Request::budget)
      .add("multiplier", &Request::multiplier)
      .add("margin", &Request::margin)
      .add("per_revenue", &Request::per_revenue)
      .add("previous", &Request::previous)
      .add("weight", &Request::weight)
      .add("guardrail", &Request::guardrails)
      .bind(module, "ReadoutRequest");
  module.def("readout", [](const Request& request, const RunOptions& options) {
    const verbs::ReadoutResult result =
        run(options, [&](core::RunContext& context) { return verbs::read_out(request, context); });
    return screens(report::readout_json(result.readout, result.provenance),
                   [&](Length length) { return report::readout_text(result.readout, length); });
  });
}

void bind_power(nb::module_& module) {
  using Request = verbs::PowerRequest;
  RequestFields<Request>()
      .add("study",
           [](Request& self, nb::handle value) {
             if (!self.study) self.study.emplace();
             self.study->study = nb::cast<const data::Study&>(value);
           })
      .add("trial",
           [](Request& self, nb::handle value) {
             if (!self.study) self.study.emplace();
             self.study->trial = to_text("trial", value);
           })
      .add("models", &Request::models)
      .add("output", &Request::output)
      .add("split", &Request::split)
      .add("sd", &Request::sd)
      .add("gain", &Request::gains)
      .add("relative_gain", &Request::relative_gains)
      .add("per_unit", &Request::per_unit)
      .add("share_of_max", &Request::share_of_max)
      .add("launch_units", &Request::launch_units)
      .add("differ", &Request::differ)
      .add("power", &Request::power)
      .add("level", &Request::level)
      .bind(module, "PowerRequest");
  module.def("power", [](const Request& request, const RunOptions& options) {
    const verbs::PowerResult result =
        run(options, [&](core::RunContext& context) { return verbs::power(request, context); });
    return screens(report::power_json(result.figures, result.provenance),
                   [&](Length length) { return report::power_text(result.figures, length); });
  });
}

// What needs no run: files looked at, results drawn, models exported.
void bind_files(nb::module_& module) {
  using Report = verbs::ReportRequest;
  RequestFields<Report>()
      .add("results", &Report::results)
      .add("json", &Report::json)
      .add("output", &Report::output)
      .add("format", &Report::format)
      .bind(module, "ReportRequest");
  module.def("report", [](const Report& request, const RunOptions& options) {
    return text(run(options, [&](core::RunContext& context) { return verbs::report(request, context); }).text);
  });
  using Export = verbs::ExportRequest;
  RequestFields<Export>()
      .add("model", &Export::model)
      .add("in_memory", &Export::in_memory)
      .add("output", &Export::output)
      .bind(module, "ExportRequest");
  module.def("export_model", [](const Export& request, const RunOptions& options) {
    const std::string bytes =
        run(options, [&](core::RunContext& context) { return verbs::export_model(request, context); });
    return nb::bytes(bytes.data(), bytes.size());
  });
  using Info = verbs::InfoRequest;
  RequestFields<Info>().add("file", &Info::file).bind(module, "InfoRequest");
  module.def("info", [](const Info& request, const RunOptions& options) {
    const verbs::InfoResult result =
        run(options, [&](core::RunContext& context) { return verbs::info(request, context); });
    if (const auto* model = std::get_if<model::Model>(&result))
      return screens(report::model_json(*model),
                     [&](Length length) { return report::model_text(*model, request.file, length); });
    const auto& table = std::get<data::TableSummary>(result);
    return screens(report::table_json(table),
                   [&](Length length) { return report::table_text(table, request.file, length); });
  });
}

}  // namespace

nb::str text(const std::string& bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void bind_verbs(nb::module_& module) {
  bind_model_input(module);
  bind_plan(module);
  bind_init(module);
  bind_simulate(module);
  bind_check(module);
  bind_train(module);
  bind_predict(module);
  bind_allocate(module);
  bind_evaluate(module);
  bind_compare(module);
  bind_deploy(module);
  bind_readout(module);
  bind_power(module);
  bind_files(module);
}

}  // namespace dfcl::python
