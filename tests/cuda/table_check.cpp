// SPDX-License-Identifier: Apache-2.0
//
// Networks for tables on a graphics card against the processor: gradients with dropout, each of 50 steps, predictions,
// the same bytes twice. Prints a line a check and ends with 1 where one fails. Usage: cuda_table_check [quick]; quick:
// few units and cases, for compute-sanitizer.
#include <limits>
#include <memory>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/nn/cuda/training_card.h"
#include "dfcl/nn/table/table_gradient.h"
#include "tests/cuda/expect.h"
#include "tests/cuda/same_bytes.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::size_t kNumbers = 9;

// Numbers, some missing, one of few values; a category of 40 levels; a category that may be missing.
struct TableRows {
  TableRows(std::size_t units, std::size_t num_arms, std::uint64_t seed)
      : nuisance_revenue(units, num_arms), nuisance_cost(units, num_arms), all(units) {
    features.values = core::Matrix<float>(units, kNumbers + 2);
    for (std::size_t i = 0; i < kNumbers; ++i) features.columns.push_back({fmt::format("f{}", i), false, {}});
    for (const std::size_t levels : {40u, 5u}) {
      features.columns.push_back({fmt::format("c{}", levels), true, {data::kPooledLevel}});
      for (std::size_t i = 1; i < levels; ++i) features.columns.back().levels.push_back(fmt::format("level {:03}", i));
    }
    std::iota(all.begin(), all.end(), 0u);
    for (std::size_t unit = 0; unit < units; ++unit) {
      core::RandomStream random(seed, core::stream_purpose("card table"), unit);
      auto row = features.values.row(unit);
      for (std::size_t i = 0; i < kNumbers; ++i) row[i] = static_cast<float>(random.normal());
      row[1] = static_cast<float>(random.below(4));
      if (random.bernoulli(0.2)) row[2] = std::numeric_limits<float>::quiet_NaN();
      row[kNumbers] = static_cast<float>(random.below(40));
      row[kNumbers + 1] =
          random.bernoulli(0.1) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.below(5));
      arm.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(num_arms))));
      revenue.push_back(random.bernoulli(0.3) ? 1.0f : 0.0f);
      cost.push_back(random.bernoulli(0.4) ? 1.0f : 0.0f);
      sample.push_back(static_cast<float>(random.uniform(0.5, 1.5)));
      weight.push_back(sample.back() * static_cast<float>(random.uniform(1.0, 3.0)));
      for (float& value : nuisance_revenue.row(unit)) value = static_cast<float>(random.uniform());
      for (float& value : nuisance_cost.row(unit)) value = static_cast<float>(random.uniform());
    }
  }
  TrainingRows rows() const {
    return {arm, revenue, cost, weight, nuisance_revenue.view(), nuisance_cost.view(), sample};
  }

  data::Features features;
  core::Matrix<float> nuisance_revenue, nuisance_cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight, sample;
  std::vector<std::uint32_t> all;
};

struct TableCase {
  std::string name;
  CardTableOptions options;
};

CardTableOptions options_of(std::size_t num_arms, loss::OutcomeKind kind, std::size_t members) {
  CardTableOptions options;
  const bool apart = kind == loss::OutcomeKind::non_negative;  // as networks for tables are made
  options.table = {.members = members,
                   .revenue = {.num_arms = num_arms, .kind = kind, .arms_apart = apart},
                   .cost = {.num_arms = num_arms, .kind = kind, .arms_apart = apart}};
  options.prediction = {kind, kind};
  options.dropout = 0.2;
  options.adam.weight_decay = 0.05;
  options.adam.clip_norm = 1.0;
  return options;
}

std::vector<TableCase> table_cases() {
  using loss::OutcomeKind;
  std::vector<TableCase> cases = {{"two-stage", options_of(5, OutcomeKind::non_negative, 8)},
                                  {"binary, 3 members", options_of(2, OutcomeKind::binary, 3)},
                                  {"nine arms, 4 members", options_of(9, OutcomeKind::real, 4)},
                                  {"20 arms, 11 members", options_of(20, OutcomeKind::binary, 11)}};
  TableCase mer = cases[0];
  mer.name = "mer, doubly robust";
  mer.options.decision = DecisionKind::policy;
  mer.options.decision_options = {
      .multipliers = {0.1, 0.3, 0.5, 0.8, 1.0, 2.0}, .baseline = loss::Baseline::doubly_robust, .temperature = 0.2};
  mer.options.decision_weight = 0.7;
  cases.push_back(mer);
  TableCase free = cases[0];
  free.name = "control is free";
  free.options.table.cost.control_is_free = true;
  cases.push_back(free);
  TableCase plain = cases[0];
  plain.name = "without dropout and clipping";
  plain.options.dropout = 0.0;
  plain.options.adam.clip_norm = 0.0;
  cases.push_back(plain);
  return cases;
}

template <class T>
class TableReference {
 public:
  TableReference(const TableEncoding& encoding, const CardTableOptions& options)
      : options_(options),
        context_(0),
        network_(encoding, options.table),
        engine_(network_),
        adam_(network_.parameters().size()),
        gradient_(network_.parameters().size()),
        prediction_(options.prediction),
        policy_(options.decision == DecisionKind::policy
                    ? std::make_unique<loss::PolicyLoss<T>>(options.decision_options)
                    : nullptr) {
    network_.initialise(3);
    // Members' biases and second scales start equal; moved, so that every gradient has something to say.
    core::RandomStream random(6, core::stream_purpose("card table start"), 0);
    const TableLayout& layout = network_.layout();
    for (T& value : network_.parameters().subspan(layout.scale1)) value += static_cast<T>(0.05 * random.normal());
    for (T& value : network_.parameters()) value = static_cast<T>(static_cast<float>(value));
    losses_.push_back({&prediction_, options.prediction_weight});
    if (policy_) losses_.push_back({policy_.get(), options.decision_weight});
  }
  // As the processor's engine keys it.
  std::vector<double> compute(const TableRows& data, std::span<const std::uint32_t> batch, std::uint64_t epoch,
                              std::uint64_t begin) {
    const std::uint64_t seed = core::combine_hashes(kSeed, core::stream_purpose("table dropout"));
    network_.refresh(context_);
    return engine_.compute(context_, data.features.values.view(), data.rows(), batch, losses_,
                           {options_.dropout, core::combine_hashes(core::combine_hashes(seed, epoch), begin)},
                           gradient_);
  }
  void step(const TableRows& data, std::span<const std::uint32_t> batch, std::uint64_t epoch, std::uint64_t begin) {
    compute(data, batch, epoch, begin);
    adam_step<T>(options_.adam, adam_, gradient_, network_.parameters());
  }
  void set_parameters(std::span<const float> values) {
    std::ranges::transform(values, network_.parameters().begin(), [](float x) { return static_cast<T>(x); });
  }
  std::vector<float> predict(const TableRows& data) {
    network_.refresh(context_);
    TableTile<T> tile(network_);
    const std::size_t width = network_.width();
    const std::size_t columns = network_.encoding().num_columns();
    const std::size_t arms = network_.cost().num_arms();
    std::vector<Lookup> lookups(columns);
    AlignedBuffer<T> sums(width);
    std::vector<float> revenue, cost;
    for (const std::uint32_t row : data.all) {
      network_.encoding().apply(data.features.values.row(row).data(), lookups.data());
      for (std::size_t j = 0; j < width; ++j) {
        T sum = network_.parameters()[network_.layout().first_bias + j];
        for (const Lookup& lookup : lookups) {
          const T* value = network_.values() + lookup.row * width + j;
          sum += (T(1) - static_cast<T>(lookup.share)) * value[0] + static_cast<T>(lookup.share) * value[width];
        }
        sums.data()[j] = sum;
      }
      tile.forward(network_, sums.data(), 1, {});
      for (std::size_t arm = 0; arm < arms; ++arm) {
        double both[2] = {};
        for (std::size_t member = 0; member < network_.members(); ++member) {
          both[0] += static_cast<double>(tile.revenue()(member, arm));
          both[1] += static_cast<double>(tile.cost()(member, arm));
        }
        revenue.push_back(static_cast<float>(both[0] / static_cast<double>(network_.members())));
        cost.push_back(static_cast<float>(both[1] / static_cast<double>(network_.members())));
      }
    }
    revenue.insert(revenue.end(), cost.begin(), cost.end());
    return revenue;
  }
  CardState state() const {
    return {to_float(network_.parameters()), to_float(adam_.mean), to_float(adam_.mean_square), adam_.step};
  }
  std::vector<float> gradient() const { return to_float(gradient_); }
  const TableLayout& layout() const { return network_.layout(); }

  static constexpr std::uint64_t kSeed = 17;

 private:
  static std::vector<float> to_float(std::span<const T> values) {
    std::vector<float> copy;
    for (const T value : values) copy.push_back(static_cast<float>(value));
    return copy;
  }

  CardTableOptions options_;
  core::RunContext context_;
  TableNetwork<T> network_;
  TableGradient<T> engine_;
  AdamState<T> adam_;
  std::vector<T> gradient_;
  loss::PredictionLoss<T> prediction_;
  std::unique_ptr<loss::PolicyLoss<T>> policy_;
  std::vector<WeightedLoss<T>> losses_;
};

constexpr std::uint64_t kSeed = TableReference<float>::kSeed;

// Each tensor for itself, so that a small one cannot hide behind a large one.
std::string tensor_distances(const TableLayout& layout, std::span<const float> a, std::span<const float> b,
                             double& most) {
  const std::vector<std::pair<const char*, std::size_t>> parts = {
      {"first", layout.first}, {"first bias", layout.first_bias}, {"scale1", layout.scale1}, {"bias1", layout.bias1},
      {"sign", layout.sign},   {"second", layout.second},         {"scale2", layout.scale2}, {"bias2", layout.bias2},
      {"heads", layout.heads}, {"head bias", layout.head_bias},   {"", layout.size}};
  std::string text;
  most = 0.0;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::size_t size = parts[i + 1].second - parts[i].second;
    const double distance = relative_distance(a.subspan(parts[i].second, size), b.subspan(parts[i].second, size));
    most = std::max(most, std::isfinite(distance) ? distance : 1e9);
    text += fmt::format(" {} {:.0e}", parts[i].first, distance);
  }
  return text;
}

struct Trial {
  Trial(const CardTableOptions& options, std::size_t units, std::uint64_t seed = 4)
      : data(units, options.table.cost.num_arms, seed),
        encoding(fit_table_encoding(data.features.columns, data.features.values.view(), {}, 16, context)) {}
  core::RunContext context{0};
  TableRows data;
  TableEncoding encoding;
};

struct GradientCheck {
  double most;  // of all tensors and the losses
  std::string text;
};

GradientCheck gradient_distance(const TableCase& sample, std::size_t units, Precision precision, std::uint64_t seed) {
  CardTableOptions options = sample.options;
  options.precision = precision;
  options.batch = units;
  Trial trial(options, units, seed);
  TableReference<double> reference(trial.encoding, options);
  const CardState start = reference.state();
  const std::vector<double> means = reference.compute(trial.data, trial.data.all, 2, 0);
  const auto card = make_card(options, trial.encoding, trial.data.features.values.view());
  card->load(trial.data.rows(), trial.data.all, trial.context);
  card->set_state(start);
  const EpochResult result = card->run_epoch(trial.data.all, kSeed, 2, trial.context);
  double most = 0.0;
  const std::string text = tensor_distances(reference.layout(), card->gradient(), reference.gradient(), most);
  const double loss_distance = std::fabs(result.losses.prediction - means[0]) / std::fabs(means[0]) +
                               (means.size() > 1 ? std::fabs(result.losses.decision - means[1]) : 0.0);
  return {std::max(most, loss_distance), fmt::format("losses {:.0e};{}", loss_distance, text)};
}

// Where a sum is zero but for rounding, a ReLU takes it one way or the other, and of few units one shows: then other
// units are drawn, once. A wrong gradient is wrong for both.
void check_gradient(const TableCase& sample, std::size_t units, Precision precision, double tolerance) {
  GradientCheck found = gradient_distance(sample, units, precision, 4);
  if (found.most >= tolerance) {
    const GradientCheck again = gradient_distance(sample, units, precision, 5);
    found = {again.most, fmt::format("{} (of other units; first {:.0e})", again.text, found.most)};
  }
  expect(found.most < tolerance,
         fmt::format("gradient, {}, {} units, {}: {}", sample.name, units, core::name_of(precision), found.text));
}

// As check_each_step of engine_check.cpp; then all steps on the card by themselves, with an Adam that makes no whole
// step of a gradient of nearly nothing.
void check_steps(const TableCase& sample, std::size_t units, std::size_t steps, std::size_t batch) {
  CardTableOptions options = sample.options;
  options.precision = Precision::fp32;
  options.batch = batch;
  Trial trial(options, units);
  TableReference<float> path(trial.encoding, options);
  TableReference<double> exact(trial.encoding, options);
  const auto card = make_card(options, trial.encoding, trial.data.features.values.view());
  card->load(trial.data.rows(), trial.data.all, trial.context);
  std::vector<std::uint32_t> order;
  core::RandomStream random(5, core::stream_purpose("card batches"), 0);
  for (std::size_t i = 0; i < steps * batch; ++i) order.push_back(random.below(static_cast<std::uint32_t>(units)));
  std::vector<double> distances;
  double from_adam = 0.0;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto rows = std::span(order).subspan(step * batch, batch);
    const CardState before = path.state();
    exact.set_parameters(before.parameters);
    exact.compute(trial.data, rows, step, 0);
    card->set_state(before);
    card->run_epoch(rows, kSeed, step, trial.context);
    distances.push_back(relative_distance(card->gradient(), exact.gradient()));
    AdamState<float> adam(0);
    adam.mean = before.mean;
    adam.mean_square = before.mean_square;
    adam.step = before.step;
    std::vector<float> parameters = before.parameters;
    adam_step<float>(options.adam, adam, card->gradient(), parameters);
    from_adam = std::max(from_adam, relative_distance(card->state().parameters, parameters));
    path.step(trial.data, rows, step, 0);
  }
  std::ranges::sort(distances);
  const double most = distances[steps - 1 - steps / 10];
  expect(most < 1e-4 && distances.back() < 3e-2 && from_adam < 1e-6,
         fmt::format("each of {} steps, {}: gradient {:.1e} from double, nine in ten within {:.1e}; Adam {:.1e}", steps,
                     sample.name, distances.back(), most, from_adam));
  options.adam.epsilon = 1e-3;
  TableReference<double> reference(trial.encoding, options);
  const auto free = make_card(options, trial.encoding, trial.data.features.values.view());
  free->load(trial.data.rows(), trial.data.all, trial.context);
  free->load_validation(trial.data.rows(), trial.data.all, trial.context);
  free->set_state(reference.state());
  for (std::size_t step = 0; step < steps; ++step)
    reference.step(trial.data, std::span(order).subspan(step * batch, batch), 1, step * batch);
  free->run_epoch(order, kSeed, 1, trial.context);
  const std::size_t arms = options.table.cost.num_arms;
  core::Matrix<float> revenue(units, arms), cost(units, arms);
  free->predict(revenue.view(), cost.view(), trial.context);
  std::vector<float> predicted(revenue.data(), revenue.data() + units * arms);
  predicted.insert(predicted.end(), cost.data(), cost.data() + units * arms);
  const double distance = relative_distance(free->state().parameters, reference.state().parameters);
  const double distance_predicted = relative_distance(predicted, reference.predict(trial.data));
  expect(distance < 1e-3 && distance_predicted < 5e-3 && free->state().step == steps,
         fmt::format("{} steps, smooth, {}: parameters {:.1e} from double; predictions {:.1e}", steps, sample.name,
                     distance, distance_predicted));
}

void check_same_bytes(const TableCase& sample, std::size_t units, Precision precision) {
  CardTableOptions wanted = sample.options;
  wanted.precision = precision;
  wanted.batch = units / 3;
  const Trial trial(wanted, units);
  const CardState start = TableReference<float>(trial.encoding, wanted).state();
  expect_same_bytes(fmt::format("{}, {}", sample.name, core::name_of(precision)), wanted,
                    [&](const CardTableOptions& options) {
                      core::RunContext context(0);
                      const auto card = make_card(options, trial.encoding, trial.data.features.values.view());
                      card->load(trial.data.rows(), trial.data.all, context);
                      card->load_validation(trial.data.rows(), trial.data.all, context);
                      return fit_on(*card, start, units, options.table.cost.num_arms);
                    });
}

void check_failures() {
  CardTableOptions options = table_cases()[1].options;
  options.batch = 100;
  Trial trial(options, 300);
  trial.data.revenue[250] = std::numeric_limits<float>::quiet_NaN();
  const auto card = make_card(options, trial.encoding, trial.data.features.values.view());
  card->load(trial.data.rows(), trial.data.all, trial.context);
  card->set_state(TableReference<float>(trial.encoding, options).state());
  expect(card->run_epoch(trial.data.all, 1, 1, trial.context).failed_step == 2u,
         "an outcome that is not finite fails its step");
}

int run(bool quick) {
  const CardAnswer card = find_card();
  if (card.name.empty()) {
    fmt::print("not run: {}\n", card.reason);
    return 5;
  }
  fmt::print("{}\n", card.name);
  for (const TableCase& sample : table_cases()) {
    check_gradient(sample, 150, Precision::fp32, 1e-4);
    // Of 20 million sums some are zero but for rounding, and a ReLU takes them one way or the other.
    if (!quick) check_gradient(sample, 5000, Precision::fp32, 1e-3);
    if (!quick) check_gradient(sample, 20'000, Precision::tf32, 2e-2);
    if (!quick) check_gradient(sample, 20'000, Precision::bf16, 1e-1);
    check_steps(sample, quick ? 150 : 600, quick ? 2 : 50, 50);
  }
  for (const std::size_t i : {0u, 4u}) check_same_bytes(table_cases()[i], quick ? 150 : 20'000, Precision::tf32);
  check_same_bytes(table_cases()[4], quick ? 150 : 20'000, Precision::bf16);
  check_same_bytes(table_cases()[4], quick ? 150 : 5000, Precision::fp32);
  check_failures();
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace dfcl::nn::cuda

int main(int argc, char** argv) {
  try {
    return dfcl::nn::cuda::run(argc > 1 && std::string(argv[1]) == "quick");
  } catch (const std::exception& error) {
    fmt::print("FAIL {}\n", error.what());
    return 1;
  }
}
