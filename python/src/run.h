// SPDX-License-Identifier: Apache-2.0
//
// Runs a function of the library for a Python caller: the work is done by a thread of its own, without the GIL, while
// the calling thread looks after Ctrl-C, progress and warnings twenty times a second. Python is called by the calling
// thread alone. Costs about 0.1 ms a call.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "dfcl/core/run_context.h"

namespace dfcl::python {

struct RunOptions {
  int threads = 0;
  std::uint64_t seed = 0;
  // Called with (kind, text, done, total, unit): "progress" and "finished" with a task, "detail" with a figure of the
  // step at hand ("loss 0.41"), "warning" with a text.
  // None: nobody is told.
  nanobind::object tell = nanobind::none();
  bool overwrite = false;  // outputs may replace files that are there
  // Set once `tell` returned "enough".
  std::shared_ptr<std::atomic<bool>> enough = std::make_shared<std::atomic<bool>>(false);
};

// Returns when the work is done. Throws what the work throws, or the exception that a signal handler or `tell` raised.
void run_without_gil(const RunOptions& options, const std::function<void(core::RunContext&)>& work);

// The same in the calling thread, which keeps the GIL: for work that is little by itself and calls Python. Warnings are
// passed on when it is done.
void run_with_gil(const RunOptions& options, const std::function<void(core::RunContext&)>& work);

template <class Work>
auto run(const RunOptions& options, Work&& work) {
  using Result = std::invoke_result_t<Work, core::RunContext&>;
  std::optional<Result> result;
  run_without_gil(options, [&](core::RunContext& context) { result.emplace(work(context)); });
  return std::move(*result);
}

}  // namespace dfcl::python
