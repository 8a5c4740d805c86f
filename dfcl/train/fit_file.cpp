// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/fit_file.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/learn/part.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/learners.h"

namespace dfcl::train {
namespace {

constexpr const char* kRevenue = "unseen.revenue";
constexpr const char* kCost = "unseen.cost";

void put(io::TensorFile& file, const char* name, const core::Matrix<float>& values) {
  const std::size_t size = values.rows() * values.cols();
  file.tensors.push_back(
      {name, {values.rows(), values.cols()}, std::vector<float>(values.data(), values.data() + size)});
}

core::Matrix<float> matrix_of(const learn::PartReader& part, const char* name, std::size_t rows, std::size_t cols,
                              core::RunContext& context) {
  const auto& values = part.values<std::vector<float>>(name);
  if (values.size() != rows * cols) part.refuse_tensor(name);
  core::Matrix<float> matrix(context.scratch(), rows, cols);
  std::copy(values.begin(), values.end(), matrix.data());
  return matrix;
}

}  // namespace

io::TensorFile fit_file(const FinishedFit& fit) {
  io::TensorFile file;
  std::vector<learn::WeightedPredictor> list;
  for (const auto& predictor : fit.predictors) list.push_back({predictor, 1.0});
  learn::PartWriter(file, "").predictors("fit", list);
  learn::put_text(file, "record", learn::record_list(fit.record));
  file.tensors.push_back({"seconds", {1}, std::vector<double>{fit.seconds}});
  if (fit.out_of_sample) {
    put(file, kRevenue, fit.out_of_sample->revenue);
    put(file, kCost, fit.out_of_sample->cost);
  }
  return file;
}

FinishedFit fit_of_file(const io::TensorFile& file, const learn::Schema& schema, std::size_t num_rows,
                        const std::string& where, core::RunContext& context) {
  const learn::PartReader part(file, "", where, schema, model::find_loader);
  FinishedFit fit;
  for (learn::WeightedPredictor& entry : part.predictors("fit")) fit.predictors.push_back(std::move(entry.predictor));
  fit.record = learn::parse_record(part.text("record"), where);
  const auto& seconds = part.values<std::vector<double>>("seconds");
  if (seconds.size() != 1 || !(seconds.front() >= 0.0)) part.refuse_tensor("seconds");
  fit.seconds = seconds.front();
  if (file.find(kRevenue) != nullptr) {
    const std::size_t num_arms = schema.arms.size();
    fit.out_of_sample = learn::Predicted{matrix_of(part, kRevenue, num_rows, num_arms, context),
                                         matrix_of(part, kCost, num_rows, num_arms, context)};
  }
  return fit;
}

std::unique_ptr<learn::Predictor> copy_of(const learn::Predictor& predictor, const learn::Schema& schema) {
  io::TensorFile file;
  predictor.save(learn::PartWriter(file, ""));
  const std::string where = "a copy";
  const learn::LoadPredictor load = model::find_loader(predictor.kind());
  if (load == nullptr) throw core::Error({.what = "a predictor that is not in the list of learners"});
  return load(learn::PartReader(file, "", where, schema, model::find_loader));
}

}  // namespace dfcl::train
