// SPDX-License-Identifier: Apache-2.0
//
// dfcl serve: a page on this machine that re-plans all units at every move.
#include "dfcl/serve/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"

namespace dfcl::cli {
namespace {

// In the browser of the desktop, where there is one.
void open_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string program = "xdg-open";
  std::string argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
}

int run_serve(const serve::ServeRequest& request, bool opens, bool as_json, core::RunContext& context) {
  try {
    serve::serve(request, context, [&](const std::string& address) {
      if (as_json) {
        fmt::print("{}\n", nlohmann::ordered_json{{"address", address}}.dump());
      } else {
        fmt::print("{}\n", address);
      }
      std::fflush(stdout);
      if (opens) open_browser(address);
    });
  } catch (const core::Error& error) {
    // Ctrl-C is how it ends.
    if (error.kind() != core::ErrorKind::interrupted) throw;
  }
  return 0;
}

}  // namespace

void add_serve(Session& session) {
  const auto request = std::make_shared<serve::ServeRequest>();
  const auto stays = std::make_shared<bool>(false);
  CLI::App& verb = session.add_verb(
      "serve",
      "a local page: move budgets and limits, and all units are re-planned\n"
      "Prints one address, opens it where there is a browser, and ends with Ctrl-C. Reads everything at the start and\n"
      "writes nothing but the plans you download. Only this machine can reach the page, unless you pass --listen.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth truth.parquet\n"
      "dfcl serve truth.parquet --per-revenue 0.5 --no-browser --seconds 1",
      [request, stays, &session](core::RunContext& context) {
        return run_serve(*request, !*stays, session.json(), context);
      });
  verb.add_option("INPUT", request->input,
                  "predictions; a model, with UNITS; or a folder with predictions or results.json in it")
      ->required();
  add_field(verb, "UNITS", request->units, "for a model, the units: csv, csv.gz, parquet or arrow");
  add_field(verb, "--results", request->results, "a results file, whose report is served beside the page");
  add_field(verb, "--control", request->control, "the control arm, if the predictions do not name one");
  add_field(verb, "--eligible", request->eligible,
            "who may get which arm: a table with id and eligible_<arm>\nThe page can set it aside.");
  add_field(verb, "--segment", request->segment, "a column whose values can have their own budgets on the page");
  add_field(verb, "--second-cost", request->second_cost,
            "a second constrained resource: a table with id and cost_<arm>\nIts budget is set on the page.");
  add_field(verb, "--per-revenue", request->worth,
            "what one unit of revenue is worth at first; the page can change it");
  verb.add_option("--port", request->port, "the port; 0, the default, takes one that is free");
  add_field(
      verb, "--listen", request->listen,
      "an address of this machine that others can reach; needs --token\nBy default 127.0.0.1, this machine only.");
  add_field(verb, "--token", request->token,
            "the secret in the address, 16 to 128 letters, digits, - or _\nBy default a random one.");
  add_field(verb, "--seconds", request->seconds, "stop after this many seconds, for scripts");
  verb.add_flag("--no-browser", *stays, "do not open a browser");
}

}  // namespace dfcl::cli
