// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/whole_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::learn {
namespace {

constexpr double kLargest = 1e30;

// Numbers in one order, to and from a tensor.
class Numbers {
 public:
  void put(double number) { values_.push_back(number); }
  void put_all(const std::vector<double>& numbers) {
    put(static_cast<double>(numbers.size()));
    values_.insert(values_.end(), numbers.begin(), numbers.end());
  }
  std::vector<double> take() { return std::move(values_); }

 private:
  std::vector<double> values_;
};

class NumberReader {
 public:
  NumberReader(const PartReader& part, const std::string& name)
      : part_(part), name_(name), left_(part.values<std::vector<double>>(name)) {}
  double next() {
    if (left_.empty() || !(std::abs(left_.front()) <= kLargest)) part_.refuse_tensor(name_);
    const double number = left_.front();
    left_ = left_.subspan(1);
    return number;
  }
  std::size_t next_count(std::size_t most) {
    const double number = next();
    if (!(number >= 0.0 && number <= static_cast<double>(most)) || number != std::floor(number))
      part_.refuse_tensor(name_);
    return static_cast<std::size_t>(number);
  }
  std::vector<double> next_all() {
    std::vector<double> numbers(next_count(256));
    for (double& number : numbers) number = next();
    return numbers;
  }
  void end() const {
    if (!left_.empty()) part_.refuse_tensor(name_);
  }

 private:
  const PartReader& part_;
  const std::string name_;
  std::span<const double> left_;
};

void put(const OutcomeForm& form, Numbers& numbers) {
  numbers.put(static_cast<double>(form.kind));
  numbers.put(form.non_negative ? 1.0 : 0.0);
}

OutcomeForm form_of(NumberReader& numbers) {
  OutcomeForm form;
  form.kind = static_cast<loss::OutcomeKind>(numbers.next_count(2));
  form.non_negative = numbers.next_count(1) == 1;
  return form;
}

void put(const Calibration::Outcome& outcome, Numbers& numbers) {
  put(outcome.form, numbers);
  for (const std::vector<double>* list : {&outcome.shift, &outcome.center, &outcome.size}) numbers.put_all(*list);
  for (const double number :
       {outcome.slope, outcome.found_slope, outcome.slope_error, outcome.base_slope, outcome.plan_factor})
    numbers.put(number);
}

Calibration::Outcome calibrated_of(NumberReader& numbers) {
  Calibration::Outcome outcome;
  outcome.form = form_of(numbers);
  for (std::vector<double>* list : {&outcome.shift, &outcome.center, &outcome.size}) *list = numbers.next_all();
  for (double* number :
       {&outcome.slope, &outcome.found_slope, &outcome.slope_error, &outcome.base_slope, &outcome.plan_factor})
    *number = numbers.next();
  return outcome;
}

std::vector<double> numbers_of(const Calibration& calibration) {
  Numbers numbers;
  numbers.put(static_cast<double>(calibration.num_units));
  put(calibration.revenue, numbers);
  put(calibration.cost, numbers);
  numbers.put(calibration.base_mean);
  numbers.put(calibration.base_spread);
  return numbers.take();
}

std::vector<double> numbers_of(const MeanEffect& mean) {
  Numbers numbers;
  numbers.put(mean.weight);
  for (const MeanEffect::Outcome* outcome : {&mean.revenue, &mean.cost}) {
    put(outcome->form, numbers);
    numbers.put_all(outcome->effect);
  }
  return numbers.take();
}

}  // namespace

void WholePredictor::predict(const FeatureTile& units, Outcomes out, core::RunContext& context) const {
  predict_mean(parts_.fits, units, out, context);
  if (parts_.mean_effect) mix_mean_effect(*parts_.mean_effect, parts_.control, out);
  if (parts_.calibration) calibrate(*parts_.calibration, parts_.control, out);
}

std::vector<double> WholePredictor::importance() const {
  std::vector<double> mean;
  double total = 0.0;
  for (const WeightedPredictor& fit : parts_.fits) {
    const std::vector<double> own = fit.predictor->importance();
    if (own.empty()) return {};
    mean.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) mean[i] += fit.weight * own[i];
    total += fit.weight;
  }
  for (double& share : mean) share /= total;
  return mean;
}

Description WholePredictor::describe(const Schema& schema) const {
  return parts_.fits.front().predictor->describe(schema);
}

void WholePredictor::require_fits(const Schema& schema, const std::string& where) const {
  const auto require = [&](bool good, const char* what) {
    if (!good)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = std::string("a model whose parts do not fit each other: ") + what,
                         .where = where});
  };
  const std::size_t num_arms = schema.arms.size();
  require(parts_.control == schema.arms.control && !parts_.fits.empty(), "a model inside another");
  for (const WeightedPredictor& fit : parts_.fits) {
    require(!fit.predictor->is_index(), "an index inside a model");
    fit.predictor->require_fits(schema, where);
  }
  require(!parts_.mean_effect || is_sound(*parts_.mean_effect, num_arms), "mean effect");
  require(!parts_.calibration || is_sound(*parts_.calibration, num_arms, parts_.control), "calibration");
}

void WholePredictor::save(PartWriter part) const {
  part.text("control", std::to_string(parts_.control));
  part.predictors("fits", parts_.fits);
  const auto put_numbers = [&](const char* name, std::vector<double> numbers) {
    const std::vector<std::uint64_t> shape{numbers.size()};
    part.tensor(name, shape, std::move(numbers));
  };
  if (parts_.mean_effect) put_numbers("mean_effect", numbers_of(*parts_.mean_effect));
  if (parts_.calibration) put_numbers("calibration", numbers_of(*parts_.calibration));
}

std::unique_ptr<Predictor> load_whole(const PartReader& part) {
  WholeParts parts;
  parts.control = part.number("control");
  parts.fits = part.predictors("fits");
  if (!part.tensors("mean_effect").empty()) {
    NumberReader numbers(part, "mean_effect");
    MeanEffect& mean = parts.mean_effect.emplace();
    mean.weight = numbers.next();
    for (MeanEffect::Outcome* outcome : {&mean.revenue, &mean.cost}) {
      outcome->form = form_of(numbers);
      outcome->effect = numbers.next_all();
    }
    numbers.end();
  }
  if (!part.tensors("calibration").empty()) {
    NumberReader numbers(part, "calibration");
    Calibration& calibration = parts.calibration.emplace();
    calibration.num_units = numbers.next_count(std::size_t{1} << 40);
    calibration.revenue = calibrated_of(numbers);
    calibration.cost = calibrated_of(numbers);
    calibration.base_mean = numbers.next();
    calibration.base_spread = numbers.next();
    numbers.end();
  }
  return std::make_unique<WholePredictor>(std::move(parts));
}

}  // namespace dfcl::learn
