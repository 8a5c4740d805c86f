// SPDX-License-Identifier: Apache-2.0
//
// Every loss against PyTorch on fixed batches: reference.py wrote reference.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "dfcl/loss/dpm_loss.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/drp_loss.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "tests/loss/sample_rows.h"

namespace dfcl::loss {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-9;

json read_reference() {
  std::ifstream file(std::filesystem::path(DFCL_SOURCE_DIR) / "tests/loss/reference.json");
  return json::parse(file);
}

Sample<double> sample_of(const json& batch) {
  const std::size_t num_rows = batch.at("arm").size();
  Sample<double> sample(num_rows, batch.at("cost").size() / num_rows, batch.at("revenue").size() / num_rows);
  const auto fill = [&](const char* key, auto& matrix) {
    std::size_t i = 0;
    for (const json& number : batch.at(key)) number.get_to(matrix.data()[i++]);
  };
  fill("revenue", sample.revenue);
  fill("cost", sample.cost);
  fill("arm", sample.arm);
  fill("observed_revenue", sample.observed_revenue);
  fill("observed_cost", sample.observed_cost);
  fill("weight", sample.weight);
  fill("nuisance_revenue", sample.nuisance_revenue);
  fill("nuisance_cost", sample.nuisance_cost);
  return sample;
}

OutcomeKind kind_of(const std::string& name) {
  if (name == "real") return OutcomeKind::real;
  return name == "binary" ? OutcomeKind::binary : OutcomeKind::non_negative;
}

DecisionOptions decision_options(const json& options, bool as_published) {
  const std::map<std::string, Baseline> baselines = {
      {"none", Baseline::none}, {"mean", Baseline::mean}, {"doubly_robust", Baseline::doubly_robust}};
  return {.multipliers = options.at("multipliers").get<std::vector<double>>(),
          .baseline = baselines.at(options.at("baseline").get<std::string>()),
          .temperature = options.at("temperature").get<double>(),
          .window = options.at("window").get<double>(),
          .as_published = as_published};
}

std::unique_ptr<Loss<double>> loss_of(const std::string& name, const json& options, std::size_t num_arms) {
  if (name == "prediction") {
    return std::make_unique<PredictionLoss<double>>(
        PredictionOptions{.revenue = kind_of(options.at("revenue").get<std::string>()),
                          .cost = kind_of(options.at("cost").get<std::string>())});
  }
  if (name == "drm") return std::make_unique<DrmLoss<double>>(num_arms);
  if (name == "drp") return std::make_unique<DrpLoss<double>>(options.at("cost_scale").get<double>());
  if (name == "dpm") return std::make_unique<DpmLoss<double>>(options.at("cost_scale").get<double>());
  if (name == "policy") return std::make_unique<PolicyLoss<double>>(decision_options(options, false));
  if (name.starts_with("ifd_softmax")) {
    return std::make_unique<IfdSoftmaxLoss<double>>(decision_options(options, name.ends_with("_published")));
  }
  return std::make_unique<IfdLoss<double>>(decision_options(options, name.ends_with("_published")));
}

void expect_close(const core::Matrix<double>& ours, const json& theirs) {
  ASSERT_EQ(ours.view().size(), theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const double expected = theirs[i].get<double>();
    EXPECT_NEAR(ours.data()[i], expected, kTolerance * std::max(1.0, std::abs(expected))) << "entry " << i;
  }
}

TEST(Reference, AgreesInValueAndGradientOnEveryCase) {
  const json reference = read_reference();
  std::set<std::string> seen;
  for (const json& one : reference.at("cases")) {
    const std::string name = one.at("loss").get<std::string>();
    const std::string batch = one.at("batch").get<std::string>();
    SCOPED_TRACE(name + " on " + batch + " with " + one.at("options").dump());
    seen.insert(name);
    const Sample<double> sample = sample_of(reference.at("batches").at(batch));
    const double num_rows = static_cast<double>(sample.num_rows());
    const auto loss = loss_of(name, one.at("options"), sample.num_arms());
    const Result<double> result = result_of(*loss, sample.rows(), 1.0 / num_rows);
    const double expected = one.at("value").get<double>();
    EXPECT_NEAR(result.value / num_rows, expected, kTolerance * std::max(1.0, std::abs(expected)));
    expect_close(result.revenue, one.at("revenue"));
    expect_close(result.cost, one.at("cost"));
  }
  EXPECT_EQ(seen.size(), 9u);
}

}  // namespace
}  // namespace dfcl::loss
