// SPDX-License-Identifier: Apache-2.0
//
// The extension module dfcl._dfcl: the verbs of the library for the Python package beside it, which gives them their
// names, defaults and documentation. Figures leave as the JSON of the command line.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/train/methods.h"
#include "dfcl/verbs/allocate.h"
#include "dfcl/verbs/predict.h"
#include "errors.h"
#include "fields.h"
#include "keyword_style.h"
#include "parts.h"
#include "run.h"
#include "tables.h"
#include "verbs.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace dfcl::python {
namespace {

void bind_run(nb::module_& module) {
  nb::class_<RunOptions>(module, "Run")
      .def(
          "__init__",
          [](RunOptions* self, const nb::object& threads, const nb::object& seed, nb::object tell,
             const nb::object& overwrite) {
            new (self) RunOptions{core::checked_threads(to_whole_number("threads", threads)),
                                  core::checked_seed(to_whole_number("seed", seed)), std::move(tell),
                                  to_flag("overwrite", overwrite)};
          },
          "threads"_a = 0, "seed"_a = 0, "tell"_a = nb::none(), "overwrite"_a = false);
}

void bind_study(nb::module_& module) {
  nb::class_<data::Study>(module, "Study")
      .def_static("parse", &io::parse_study, "text"_a, "where"_a, "folder"_a, "overrides"_a, "needs_trial"_a)
      .def_static(
          "read",
          [](const std::string& path, const std::vector<std::string>& overrides) {
            return io::read_study(path, overrides, /*needs_trial=*/false);  // the verb asks for one
          },
          "path"_a, "overrides"_a)
      .def_prop_ro("text", [](const data::Study& self) { return text(io::study_text(self)); })
      .def_ro("folder", &data::Study::folder)
      .def_prop_ro("trial", [](const data::Study& self) { return self.data.trial.value_or(""); })
      .def_prop_ro("control", [](const data::Study& self) { return self.arms.control.value_or(""); })
      .def_prop_ro("method", [](const data::Study& self) { return self.method.name; });
  module.def("study_keys", [] {
    nb::typed<nb::list, nb::typed<nb::dict, nb::str, nb::any>> keys;
    for (const data::StudyKey& key : data::study_keys()) {
      nb::dict entry;
      entry["name"] = key.full_name();
      entry["type"] = data::type_name(key);
      entry["keyword"] = key.keyword;
      entry["meaning"] = key.meaning;
      entry["choices"] = key.choices;
      nb::dict flags;
      for (const data::KeyFlag& flag : key.flags) flags[flag.verb.c_str()] = flag.flag;
      entry["flags"] = flags;
      keys.append(entry);
    }
    return keys;
  });
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
      .def("json", [](const ModelHandle& self) { return text(report::model_json(*self.model)); })
      .def(
          "text",
          [](const ModelHandle& self, bool full) {
            return text(report::model_text(*self.model, "model", full ? report::Length::full : report::Length::brief));
          },
          "full"_a = false)
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
      .def_prop_ro("id_column", [](const ModelHandle& self) { return self.model->id_column; })
      // A prediction for no units, which says what predictions are.
      .def("empty_prediction",
           [](const ModelHandle& self) {
             auto prediction = std::make_shared<data::Prediction>();
             static_cast<data::PredictionFacts&>(*prediction) = model::prediction_facts(*self.model);
             prediction->revenue = core::Matrix<float>(0, self.model->arms.size());
             prediction->cost = core::Matrix<float>(0, self.model->arms.size());
             return PredictionTable{std::move(prediction), verbs::prediction_provenance(*self.model)};
           })
      .def_prop_ro("fingerprint", [](const ModelHandle& self) { return model::fingerprint_of(*self.model); })
      .def_prop_ro("is_index", [](const ModelHandle& self) { return self.model->is_index(); });
}

// Columns that travel with units: names as they stand in the table.
data::ExtraColumns read_extra(const std::string& path, const std::vector<std::string>& names,
                              core::RunContext& context) {
  data::ExtraColumns extra;
  if (names.empty()) return extra;
  const std::unique_ptr<data::BatchSource> source = io::open_batches(path, names, {}, context);
  extra.columns = source->columns();
  for (const data::ColumnInfo& column : extra.columns) extra.values.push_back(data::empty_values(column.type));
  for (data::Batch batch; source->next(batch); batch = {}) {
    for (std::size_t i = 0; i < extra.values.size(); ++i)
      data::append_rows(batch.columns[i], 0, batch.num_rows, extra.values[i]);
  }
  return extra;
}

// Predictions of the caller's own. control: the label of the arm that is control; "": as the table says. is_index:
// none: likewise.
PredictionTable read_prediction(const std::string& path, const std::string& control, std::optional<bool> is_index,
                                const std::vector<std::string>& extra, const RunOptions& options) {
  return run(options, [&](core::RunContext& context) {
    data::Prediction prediction = io::read_prediction(path, "", context).prediction;
    if (!control.empty()) {
      const auto& labels = prediction.arms.labels;
      const auto place = std::find(labels.begin(), labels.end(), control);
      if (place == labels.end()) throw core::field_error("control", "no such arm", control);
      prediction.arms.control = static_cast<std::size_t>(place - labels.begin());
      prediction.control_is_guessed = false;
    }
    if (is_index) {
      prediction.is_index = *is_index;
      prediction.index_is_guessed = false;
    }
    prediction.extra = read_extra(path, extra, context);
    return PredictionTable{std::make_shared<const data::Prediction>(std::move(prediction)), io::read_provenance(path)};
  });
}

// A plan that was written. Of the options that its file has, the first num_options say how it was made; its figures
// follow.
verbs::KeptPlan read_plan(const std::string& path, std::size_t num_options, const std::vector<std::string>& extra,
                          const RunOptions& options) {
  return run(options, [&](core::RunContext& context) {
    io::PlanFile file = io::read_plan(path, context);
    file.plan.extra = read_extra(path, extra, context);
    auto& all = file.provenance.options;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(std::min(num_options, all.size()));
    std::vector<std::pair<std::string, std::string>> figures(first, all.end());
    all.erase(first, all.end());
    return verbs::KeptPlan{std::make_shared<const data::Plan>(std::move(file.plan)), std::move(file.provenance),
                           std::move(figures)};
  });
}

PlainTable read_table(const std::string& path, const RunOptions& options) {
  return run(options, [&](core::RunContext& context) {
    const std::unique_ptr<data::BatchSource> source = io::open_batches(path, {}, {}, context);
    auto table = std::make_shared<data::Table>();
    table->columns = source->columns();
    for (data::Batch batch; source->next(batch); batch = {}) table->batches.push_back(std::move(batch));
    return PlainTable{std::move(table), io::read_provenance(path)};
  });
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
  bind_verbs(module);
  bind_parts(module);
  module.def("read_prediction", &read_prediction, "path"_a, "control"_a, "index"_a.none(), "extra"_a, "run"_a);
  module.def("read_plan", &read_plan, "path"_a, "num_options"_a, "extra"_a, "run"_a);
  module.def("read_table", &read_table, "path"_a, "run"_a);
  module.def("write_text", &dfcl::io::write_text_file, "path"_a, "text"_a);
  module.def("methods", &methods);
  module.def("set_keywords", &set_keywords, "keyword_of_key"_a);
  module.def("version", &dfcl::core::version);
}
