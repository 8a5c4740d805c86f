// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "dfcl/core/error_makers.h"
#include "dfcl/serve/server.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/report.h"

namespace dfcl::serve {
namespace {

using core::field_error;
using core::field_name;
namespace fs = std::filesystem;

constexpr std::size_t kLeastToken = 16;

// 128 bits of the machine's own randomness.
std::string random_token() {
  std::random_device device;
  std::string token;
  for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", device());
  return token;
}

void check_token(const ServeRequest& request) {
  if (request.listen && !request.token)
    throw field_error("listen", fmt::format("other machines can reach this address: it needs {}", field_name("token")));
  // The Host of a request can be checked against one address only.
  if (request.listen && (*request.listen == "0.0.0.0" || *request.listen == "::"))
    throw field_error("listen", "means every address of this machine", *request.listen, "one address");
  if (!request.token) return;
  const bool plain = std::all_of(request.token->begin(), request.token->end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '_';
  });
  if (request.token->size() < kLeastToken || request.token->size() > 128 || !plain)
    throw field_error("token", "is too short or has other characters", "",
                      fmt::format("{} to 128 letters, digits, - or _", kLeastToken));
}

void check_request(const ServeRequest& request) {
  for (const auto& [field, text] :
       {std::pair{"units", &request.units}, std::pair{"results", &request.results},
        std::pair{"control", &request.control}, std::pair{"eligible", &request.eligible},
        std::pair{"segment", &request.segment}, std::pair{"second_cost", &request.second_cost},
        std::pair{"listen", &request.listen}, std::pair{"token", &request.token}})
    verbs::require_text(field, *text);
  if (request.port < 0 || request.port > 65'535)
    throw field_error("port", "out of range", fmt::format("{}", request.port), "0 to 65535");
  if (request.worth && !(std::isfinite(*request.worth) && *request.worth > 0.0))
    throw field_error("per_revenue", "out of range", fmt::format("{}", *request.worth), "a number above 0");
  if (request.seconds && !(*request.seconds >= 0.0 && *request.seconds <= 1e7))
    throw field_error("seconds", "out of range", fmt::format("{}", *request.seconds), "0 to 10,000,000");
  check_token(request);
}

// What a folder holds: predictions, results, or both.
struct Sources {
  std::optional<std::string> predictions;
  std::optional<std::string> results;
};

Sources find_sources(const ServeRequest& request) {
  Sources sources{request.input, request.results};
  if (!fs::is_directory(request.input)) {
    if (!fs::exists(request.input))
      throw core::Error({.kind = core::ErrorKind::file, .what = "no such file", .where = request.input});
    return sources;
  }
  sources.predictions.reset();
  for (const char* name : {"predictions.parquet", "predictions.csv", "predictions.arrow"}) {
    const fs::path path = fs::path(request.input) / name;
    if (!sources.predictions && fs::exists(path)) sources.predictions = path.string();
  }
  const fs::path results = fs::path(request.input) / "results.json";
  if (!sources.results && fs::exists(results)) sources.results = results.string();
  if (!sources.predictions && !sources.results)
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "there is nothing to serve in this folder",
                       .where = request.input,
                       .expected = "results.json, or predictions.parquet, .csv or .arrow"});
  return sources;
}

}  // namespace

void serve(const ServeRequest& request, core::RunContext& context,
           const std::function<void(const std::string&)>& ready) {
  check_request(request);
  const Sources sources = find_sources(request);
  SiteOptions options{.token = request.token.value_or(random_token()), .host = {}, .report = {}};
  if (sources.results) {
    verbs::ReportRequest report;
    report.results = *sources.results;
    options.report = verbs::report(report, context).text;
  }
  Server server({request.listen.value_or("127.0.0.1"), static_cast<std::uint16_t>(request.port)});
  options.host = server.host();
  std::unique_ptr<Planner> planner;
  if (sources.predictions) {
    planner =
        std::make_unique<Planner>(PlannerInput{*sources.predictions, request.units, request.control, request.eligible,
                                               request.segment, request.second_cost, request.worth},
                                  context);
    for (const std::string& warning : planner->facts().warnings) context.warn(warning);
  }
  Site site(std::move(planner), options);
  ready(fmt::format("http://{}/{}/", options.host, options.token));
  server.run(site, request.seconds, context);
}

}  // namespace dfcl::serve
