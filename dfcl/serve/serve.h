// SPDX-License-Identifier: Apache-2.0
//
// `dfcl serve`: a page on this machine over all units, which re-plans them at every move, and the page of finished
// results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"

namespace dfcl::serve {

struct ServeRequest {
  std::string input;                       // path of predictions, of a model, or of a folder with them or with results
  std::optional<std::string> units;        // path, for a model
  std::optional<std::string> results;      // path of finished results, whose report is served beside the page
  std::optional<std::string> control;      // label
  std::optional<std::string> eligible;     // path
  std::optional<std::string> segment;      // column
  std::optional<std::string> second_cost;  // path
  std::optional<double> worth;             // of one unit of revenue
  std::int64_t port = 0;                   // 0: any that is free
  std::optional<std::string> listen;       // address; none: loopback. Needs `token`
  std::optional<std::string> token;        // in the address; none: a random one
  std::optional<double> seconds;           // after which it ends by itself
};

// Reads everything, calls `ready` with the address of the page, and serves until the context is cancelled. Throws
// Error.
void serve(const ServeRequest& request, core::RunContext& context,
           const std::function<void(const std::string&)>& ready);

}  // namespace dfcl::serve
