// SPDX-License-Identifier: Apache-2.0
//
// dfcl export: a model for other programs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/model/export_onnx.h"
#include "dfcl/model/model_file.h"

namespace dfcl::cli {
namespace {

struct ExportFlags {
  std::string model;
  std::string output;
};

int run_export(const ExportFlags& flags, bool as_json) {
  if (!flags.output.ends_with(".onnx")) {
    throw core::Error(
        {.kind = core::ErrorKind::usage, .what = "unknown file ending", .where = flags.output, .expected = ".onnx"});
  }
  require_output(flags.output, {flags.model});
  const std::string bytes = model::onnx_bytes(model::read_model(flags.model));
  io::write_text_file(flags.output, bytes);
  if (as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", flags.output}, {"bytes", bytes.size()}}.dump(2));
  } else {
    fmt::print("{}: {} as an ONNX graph ({} bytes)\n", flags.output, flags.model, bytes.size());
  }
  return 0;
}

}  // namespace

void add_export(Session& session) {
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App& verb = session.add_verb(
      "export",
      "a network model as an ONNX graph, for programs that run no dfcl\n"
      "Preprocessing is inside: an input for each feature (numbers as float, NaN missing; categories as text, empty\n"
      "missing), outputs revenue and cost of units x arms. Forests are refused.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 2 --seed 1 -o model.safetensors\n"
      "dfcl export model.safetensors -o model.onnx",
      [flags, &session](core::RunContext&) { return run_export(*flags, session.json()); });
  verb.add_option("MODEL", flags->model, "a model file")->required();
  verb.add_option("-o,--output", flags->output, "the graph to write, .onnx")->required();
}

}  // namespace dfcl::cli
