// SPDX-License-Identifier: Apache-2.0
//
// dfcl export: a model for other programs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/count_text.h"
#include "dfcl/verbs/export_model.h"

namespace dfcl::cli {
namespace {

int run_export(const verbs::ExportRequest& request, const Session& session, core::RunContext& context) {
  const std::size_t bytes = verbs::export_model(request, context).size();
  if (session.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", *request.output}, {"bytes", bytes}}.dump(2));
  } else {
    session.show(
        fmt::format("{}: {} as an ONNX graph ({} bytes)\n", *request.output, request.model, core::count_text(bytes)));
  }
  return 0;
}

}  // namespace

void add_export(Session& session) {
  const auto request = std::make_shared<verbs::ExportRequest>();
  CLI::App& verb = session.add_verb(
      "export",
      "a model as an ONNX graph, for programs that run no dfcl\n"
      "Preprocessing is inside: an input for each feature (numbers as float, NaN missing; categories as text, empty\n"
      "missing), outputs revenue and cost of units x arms.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 2 --seed 1 -o model.safetensors\n"
      "dfcl export model.safetensors -o model.onnx",
      [request, &session](core::RunContext& context) { return run_export(*request, session, context); });
  verb.add_option("MODEL", request->model, "a model file")->required();
  add_field(verb, "-o,--output", request->output, "the graph to write, .onnx")->required();
}

}  // namespace dfcl::cli
