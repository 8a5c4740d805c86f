// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/nn/table/table_learner.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kUsualSteps = 8'000;

core::Error out_of_range(const char* key, const std::string& found, const char* expected) {
  return core::Error({.kind = core::ErrorKind::usage,
                      .field = fmt::format("method.{}", key),
                      .what = "out of range",
                      .found = found,
                      .expected = expected});
}

template <class T>
void require(bool good, const char* key, T value, const char* expected) {
  if (!good) throw out_of_range(key, fmt::format("{}", value), expected);
}

loss::Baseline baseline_of(const std::optional<std::string>& name, bool as_published, bool table) {
  if (!name && table && !as_published) return loss::Baseline::doubly_robust;
  if (!name) return as_published ? loss::Baseline::none : loss::Baseline::mean;
  if (*name == "none") return loss::Baseline::none;
  return *name == "mean" ? loss::Baseline::mean : loss::Baseline::doubly_robust;
}

// What networks for tables take where the study leaves it open; see docs/decisions/0062.
constexpr std::size_t kTableSteps = 400;  // within 12 to 40 epochs
constexpr std::size_t kTableDecisionEpochs = 12;
constexpr double kTableDecisionRate = 0.3;

std::size_t table_batch(std::size_t num_units) {
  if (num_units >= 1'000'000) return 4096;
  if (num_units >= 250'000) return 2048;
  return std::clamp<std::size_t>(std::bit_floor(num_units / 32 + 1), 128, 1024);
}

}  // namespace

Settings settings_of(const data::Study& study, const Method& method, std::size_t num_training_units, std::uint64_t seed,
                     const std::string& start_from) {
  const data::Study::Method& given = study.method;

  Settings settings;
  settings.method = method;
  settings.seed = seed;
  settings.as_published = given.as_published;
  settings.scaling = study.network.scaling.value_or("");
  settings.table = method.uses("network") && nn::uses_table_network(study);
  const bool decides = method.decides();
  const bool whole = given.as_published && method.whole_batch_as_published;
  const std::size_t usual_batch =
      whole            ? num_training_units
      : settings.table ? table_batch(num_training_units)
                       : std::clamp<std::size_t>(std::bit_floor(num_training_units / 128 + 1), 256, 4096);
  settings.steps.batch = given.batch ? static_cast<std::size_t>(*given.batch) : usual_batch;
  settings.steps.batch = std::min(settings.steps.batch, num_training_units);
  const std::size_t steps_per_epoch = (num_training_units + settings.steps.batch - 1) / settings.steps.batch;
  const std::size_t usual_epochs = settings.table ? std::clamp<std::size_t>(kTableSteps / steps_per_epoch, 12, 40)
                                                  : std::clamp<std::size_t>(kUsualSteps / steps_per_epoch, 10, 60);
  const std::size_t decision_epochs = settings.table ? kTableDecisionEpochs : usual_epochs * 3 / 2 - usual_epochs;
  settings.epochs =
      given.epochs ? static_cast<std::size_t>(*given.epochs) : usual_epochs + (decides ? decision_epochs : 0);
  if (settings.table && decides && !given.epochs && !start_from.empty()) settings.epochs = decision_epochs;
  settings.start_from = start_from;
  // A model to start from has been warmed up already.
  const std::size_t from_scratch =
      given.epochs || !settings.table ? std::max<std::size_t>(1, settings.epochs * 2 / 3) : usual_epochs;
  const std::size_t usual_warm = start_from.empty() ? from_scratch : 0;
  settings.warm_epochs = given.warm_epochs ? static_cast<std::size_t>(*given.warm_epochs) : usual_warm;
  require(!decides || given.warm_epochs || settings.epochs > usual_warm, "epochs", settings.epochs,
          "at least 2: a warm start, then the decision loss");
  require(!decides || settings.warm_epochs < settings.epochs, "warm_epochs", settings.warm_epochs,
          "fewer than the epochs: the decision loss needs some");
  if (!decides) settings.warm_epochs = settings.epochs;
  settings.nuisance_epochs =
      settings.warm_epochs > 0 ? settings.warm_epochs : std::max<std::size_t>(1, settings.epochs / 2);
  settings.steps.rate = given.learning_rate.value_or(settings.table ? 1e-3 : 2e-3);
  settings.steps.weight_decay = given.weight_decay.value_or(settings.table ? 0.5 : given.as_published ? 0.0 : 0.2);
  settings.steps.clip_norm = settings.table ? 1.0 : given.as_published ? 0.0 : 5.0;
  if (settings.table) settings.decision_rate_share = kTableDecisionRate;
  settings.alpha = given.alpha.value_or(1.0);
  const std::optional<double> asked = method.has_window() ? given.window : given.temperature;
  settings.temperature = asked.value_or(given.as_published ? method.published_temperature : method.temperature);
  settings.relative_temperature = method.relative && !given.as_published;
  settings.baseline = baseline_of(given.baseline, given.as_published, settings.table);
  require(!(given.as_published && settings.needs_nuisance()), "baseline", "dr",
          "none or mean: the published losses have no doubly robust form");
  const bool anchored = study.cost.control_is_free || study.cost.rises_with_arm;
  settings.gradient_to_cost = given.as_published || anchored;
  settings.multipliers = given.multipliers;
  if (given.as_published && settings.multipliers.empty()) settings.multipliers = {0.1};
  settings.ensemble = static_cast<std::size_t>(given.ensemble);

  settings.steps.warmup_steps = std::min<std::uint64_t>(steps_per_epoch, 100);
  settings.steps.final_share = 0.02;
  return settings;
}

std::vector<std::pair<std::string, std::string>> Settings::shown() const {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  std::vector<std::pair<std::string, std::string>> list = {{"epochs", number(epochs)},
                                                           {"batch", number(steps.batch)},
                                                           {"learning_rate", number(steps.rate)},
                                                           {"weight_decay", number(steps.weight_decay)},
                                                           {"ensemble", number(ensemble)},
                                                           {"as_published", as_published ? "true" : "false"}};
  if (!scaling.empty()) list.emplace_back("scaling", scaling);
  if (!device.empty()) list.emplace_back("device", device);
  if (!start_from.empty()) list.emplace_back("start_from", start_from);
  if (method.decides()) {
    list.emplace_back("warm_epochs", number(warm_epochs));
    list.emplace_back("alpha", number(alpha));
    list.emplace_back(method.has_window() ? "window" : "temperature", number(temperature));
    list.emplace_back("baseline", baseline == loss::Baseline::none   ? "none"
                                  : baseline == loss::Baseline::mean ? "mean"
                                                                     : "dr");
    list.emplace_back("decision_gradient", gradient_to_cost ? "revenue and cost" : "revenue");
    list.emplace_back("multipliers",
                      multipliers.empty() ? "from the budgets" : fmt::format("{}", fmt::join(multipliers, ", ")));
  }
  return list;
}

}  // namespace dfcl::train
