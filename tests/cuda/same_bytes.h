// SPDX-License-Identifier: Apache-2.0
//
// A fit on a graphics card has the same bytes twice, with its rows in the machine's memory, and beside others.
#pragma once

#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/training_card.h"
#include "tests/cuda/expect.h"

namespace dfcl::nn::cuda {

struct CardFit {
  CardState state;
  double loss = 0.0;
  std::vector<float> predicted;
  bool rows_on_card = true;
};

inline bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
inline bool same_bytes(const CardFit& a, const CardFit& b) {
  return same_bytes(a.state.parameters, b.state.parameters) && same_bytes(a.state.mean, b.state.mean) &&
         same_bytes(a.state.mean_square, b.state.mean_square) && same_bytes(a.predicted, b.predicted) &&
         a.loss == b.loss && std::isfinite(a.loss);
}

// Three epochs of the rows that the card has, and predictions of them.
inline CardFit fit_on(TrainingCard& card, const CardState& start, std::size_t num_predicted, std::size_t num_arms) {
  core::RunContext context(0);
  CardFit fit;
  card.set_state(start);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) fit.loss = card.run_epoch(9, epoch, context).losses.prediction;
  fit.state = card.state();
  core::Matrix<float> revenue(num_predicted, num_arms), cost(num_predicted, num_arms);
  card.predict(revenue.view(), cost.view(), context);
  for (const auto* matrix : {&revenue, &cost}) {
    fit.predicted.insert(fit.predicted.end(), matrix->data(), matrix->data() + num_predicted * num_arms);
  }
  fit.rows_on_card = card.use().rows_on_card;
  return fit;
}

// fit(options) makes a card and trains on it.
template <class Options, class Fit>
void expect_same_bytes(const std::string& name, Options options, Fit&& fit) {
  const CardFit alone = fit(options);
  expect(alone.rows_on_card && same_bytes(alone, fit(options)), "the same bytes twice, " + name);
  std::vector<CardFit> beside(3);
  std::vector<std::string> failed(beside.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        beside[i] = fit(options);
      } catch (const core::Error& error) {
        failed[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool same = true;
  std::string why;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    same = same && same_bytes(alone, beside[i]);
    why += failed[i];
  }
  expect(same, "the same bytes three at a time, " + name + (why.empty() ? "" : ": " + why));
  options.most_row_bytes = 0;
  const CardFit sent = fit(options);
  expect(!sent.rows_on_card && same_bytes(alone, sent), "the same bytes with rows in the machine's memory, " + name);
}

}  // namespace dfcl::nn::cuda
