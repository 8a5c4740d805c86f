// SPDX-License-Identifier: Apache-2.0
//
// What all verbs share: the flags that stand on each of them, help, progress on the terminal, Ctrl-C, and the way from
// an exception to a message and an exit code. A verb is one file with one function add_<verb>, which declares its
// options and its action; verbs.h lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::cli {

// Writes to standard error. Whether anybody hears it is no reason to fail.
void say(const std::string& text);

class Session {
 public:
  Session();
  ~Session();

  // Declares a verb with the shared flags (--threads, --seed, --quiet, --full, --overwrite, --json). `example` is one
  // or more command lines that run as they stand, shown by --help. The action returns the exit code; it runs after
  // parsing, with the context the flags ask for. Of every description, this summary and those of the options, -h shows
  // the first line, --help all lines.
  CLI::App& add_verb(const std::string& name, const std::string& summary, const std::string& example,
                     std::function<int(core::RunContext&)> action);

  // --set, and a flag for every key of the study that the table of keys gives this verb one. They append
  // "method.epochs=20" to `settings`, which must live as long as the session; flags of their own come last and win.
  // Errors about a key name its flag.
  void add_key_flags(CLI::App& verb, std::vector<std::string>& settings);

  bool json() const { return json_; }
  // Brief, or full with --full.
  report::Length length() const { return full_ ? report::Length::full : report::Length::brief; }
  // Prints results; in brief, at most a screen of them.
  void show(const std::string& text) const;
  bool quiet() const { return quiet_; }

  // Parses, runs, reports. Returns the exit code.
  int run(int argc, char** argv);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::int64_t threads_ = 0;
  std::int64_t seed_ = 0;
  bool quiet_ = false;
  bool json_ = false;
  bool full_ = false;
  bool overwrite_ = false;
};

}  // namespace dfcl::cli
