// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/model/predict.h"
#include "dfcl/model/typical_values.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kTileUnits = 512;
constexpr std::size_t kImportanceUnits = 32;
constexpr std::uint64_t kWalkDraw = 0;
constexpr std::uint64_t kImportanceDraw = 1;

using Players = std::vector<std::vector<std::uint32_t>>;

// A typical unit, the order in which its values replace those of a unit, and its scores.
struct Walk {
  std::span<const float> values;
  std::vector<std::size_t> order;  // of the players
  std::vector<double> score;       // per arm
};

double score_of(const ScorePrices& prices, std::size_t arm, float revenue, float cost) {
  const double own = prices.arm.empty() ? 0.0 : prices.arm[arm];
  return prices.revenue * static_cast<double>(revenue) - prices.cost * static_cast<double>(cost) - own;
}

bool same_value(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What predictions of a tile need.
class Scorer {
 public:
  Scorer(const Model& model, const ScorePrices& prices, std::size_t num_rows)
      : model_(model),
        prices_(prices),
        revenue_(num_rows, model.arms.size()),
        cost_(num_rows, model.arms.size()),
        gathered_(num_rows, model.features.size()) {}

  // Scores of all rows of `units`, or of the chosen ones; score: units x arms, of which only those rows are set.
  void score(core::MatrixView<const float> units, std::span<const std::uint32_t> rows, core::MatrixView<double> score,
             core::RunContext& context) {
    if (rows.empty()) return;
    for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(units.row(rows[i]), gathered_.row(i).begin());
    predict(model_, std::as_const(gathered_).view().slice(0, rows.size()), revenue_.view().slice(0, rows.size()),
            cost_.view().slice(0, rows.size()), context);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t arm = 0; arm < model_.arms.size(); ++arm)
        score(rows[i], arm) = score_of(prices_, arm, revenue_(i, arm), cost_(i, arm));
    }
  }

 private:
  const Model& model_;
  const ScorePrices& prices_;
  core::Matrix<float> revenue_, cost_, gathered_;
};

std::vector<Walk> make_walks(const Model& model, const ScorePrices& prices, const core::Matrix<float>& typical,
                             std::size_t num_players, core::RunContext& context) {
  std::vector<Walk> walks(typical.rows());
  core::Matrix<double> scores(typical.rows(), model.arms.size());
  std::vector<std::uint32_t> rows(typical.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  Scorer(model, prices, typical.rows()).score(typical.view(), rows, scores.view(), context);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    Walk& walk = walks[i];
    walk.values = typical.row(i);
    walk.score.assign(scores.row(i).begin(), scores.row(i).end());
    walk.order.resize(num_players);
    std::iota(walk.order.begin(), walk.order.end(), std::size_t{0});
    core::RandomStream stream(kWalkDraw, core::stream_purpose("walks"), i / 2);
    for (std::size_t left = num_players; left > 1; --left)
      std::swap(walk.order[left - 1], walk.order[stream.below(static_cast<std::uint32_t>(left))]);
    if (i % 2 == 1) std::reverse(walk.order.begin(), walk.order.end());
  }
  return walks;
}

// What each player adds to the score of each arm: adds is units x (players x arms). score: units x arms.
void walk_tile(const Model& model, const ScorePrices& prices, const std::vector<Walk>& walks, const Players& players,
               core::MatrixView<const float> units, core::MatrixView<double> score, core::MatrixView<double> adds,
               core::RunContext& context) {
  const std::size_t num_arms = model.arms.size();
  Scorer scorer(model, prices, units.rows);
  std::vector<std::uint32_t> rows(units.rows);
  std::iota(rows.begin(), rows.end(), 0u);
  scorer.score(units, rows, score, context);
  std::fill_n(adds.data, adds.size(), 0.0);
  core::Matrix<float> current(units.rows, units.cols);
  core::Matrix<double> before(units.rows, num_arms), now(units.rows, num_arms);
  const double share = 1.0 / static_cast<double>(walks.size());
  for (const Walk& walk : walks) {
    std::copy_n(units.data, units.size(), current.data());
    std::copy_n(score.data, score.size(), before.data());
    std::copy_n(score.data, score.size(), now.data());
    for (std::size_t step = 0; step < walk.order.size(); ++step) {
      const std::size_t player = walk.order[step];
      rows.clear();
      for (std::uint32_t row = 0; row < units.rows; ++row) {
        bool changes = false;
        for (const std::uint32_t feature : players[player]) {
          changes = changes || !same_value(current(row, feature), walk.values[feature]);
          current(row, feature) = walk.values[feature];
        }
        if (changes) rows.push_back(row);
      }
      if (step + 1 < walk.order.size()) {
        scorer.score(std::as_const(current).view(), rows, now.view(), context);
      } else {  // every unit is the typical one now
        for (const std::uint32_t row : rows) std::ranges::copy(walk.score, now.row(row).begin());
      }
      for (const std::uint32_t row : rows) {
        for (std::size_t arm = 0; arm < num_arms; ++arm) {
          adds(row, player * num_arms + arm) += share * (before(row, arm) - now(row, arm));
          before(row, arm) = now(row, arm);
        }
      }
    }
  }
}

void require_summaries(const Model& model) {
  if (model.summaries.size() == model.features.size()) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .field = "explain",
                     .what = "the model keeps no summaries of its training units",
                     .expected = "a model trained by this version"});
}

Players one_each(std::size_t num_features) {
  Players players(num_features);
  for (std::uint32_t feature = 0; feature < num_features; ++feature) players[feature] = {feature};
  return players;
}

// Of each feature, the mean size of what it adds to arms over control, at these prices.
std::vector<double> sizes_of_features(const Model& model, const ScorePrices& prices, std::size_t num_paths,
                                      core::RunContext& context) {
  const std::size_t num_arms = model.arms.size();
  const std::size_t num_features = model.features.size();
  const core::Matrix<float> typical = typical_rows(model, num_paths, kWalkDraw);
  const core::Matrix<float> units = typical_rows(model, kImportanceUnits, kImportanceDraw);
  const Players players = one_each(num_features);
  const std::vector<Walk> walks = make_walks(model, prices, typical, num_features, context);
  core::Matrix<double> score(units.rows(), num_arms), adds(units.rows(), num_features * num_arms);
  walk_tile(model, prices, walks, players, units.view(), score.view(), adds.view(), context);
  std::vector<double> sizes(num_features);
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    for (std::size_t unit = 0; unit < units.rows(); ++unit) {
      const double of_control = adds(unit, feature * num_arms + model.arms.control);
      for (std::size_t arm = 0; arm < num_arms; ++arm)
        sizes[feature] += std::abs(adds(unit, feature * num_arms + arm) - of_control);
    }
  }
  return sizes;
}

// The features that decide most, each alone, and then all others together.
Players choose_players(const std::vector<double>& sizes, std::size_t most) {
  std::vector<std::uint32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
  Players players;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) players.push_back({order[i]});
  if (order.size() > most) players.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
  return players;
}

}  // namespace

struct Explainer::Impl {
  core::Matrix<float> typical;  // walks x features
  Players players;
  std::vector<Walk> walks;
};

Explainer::Explainer(const Model& model, ScorePrices prices, const ExplainOptions& options, core::RunContext& context)
    : model_(model), prices_(std::move(prices)), impl_(std::make_unique<Impl>()) {
  require_summaries(model);
  impl_->typical = typical_rows(model, options.num_paths, kWalkDraw);
  impl_->players = choose_players(sizes_of_features(model, prices_, options.num_paths, context), options.num_features);
  impl_->walks = make_walks(model, prices_, impl_->typical, impl_->players.size(), context);
}

Explainer::~Explainer() = default;

void Explainer::explain(core::MatrixView<const float> features, std::span<const std::uint8_t> arm,
                        std::span<const std::uint8_t> second, std::span<Explanation> out,
                        core::RunContext& context) const {
  const std::size_t num_arms = model_.arms.size();
  core::for_each_chunk(context, features.rows, kTileUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    const core::MatrixView<const float> units = features.slice(begin, end - begin);
    core::Matrix<double> score(units.rows, num_arms), adds(units.rows, impl_->players.size() * num_arms);
    walk_tile(model_, prices_, impl_->walks, impl_->players, units, score.view(), adds.view(), context);
    for (std::size_t row = 0; row < units.rows; ++row)
      out[begin + row] = explanation(score.row(row), adds.row(row), arm[begin + row], second[begin + row]);
  });
}

Explanation Explainer::explanation(std::span<const double> score, std::span<const double> adds, std::size_t arm,
                                   std::size_t second) const {
  const std::size_t num_arms = model_.arms.size();
  Explanation result;
  result.score = score[arm] - score[second];
  for (const Walk& walk : impl_->walks)
    result.typical += (walk.score[arm] - walk.score[second]) / static_cast<double>(impl_->walks.size());
  std::vector<std::pair<double, std::uint32_t>> reasons;
  double sum = 0.0;
  for (std::size_t player = 0; player < impl_->players.size(); ++player) {
    const double added = adds[player * num_arms + arm] - adds[player * num_arms + second];
    sum += added;
    if (impl_->players[player].size() == 1 && added > 0.0) reasons.emplace_back(added, impl_->players[player].front());
  }
  // What adds the same is named in the order of the columns.
  std::sort(reasons.begin(), reasons.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  result.others = sum;
  for (std::size_t i = 0; i < std::min(kReasons, reasons.size()); ++i) {
    result.adds[i] = reasons[i].first;
    result.feature[i] = reasons[i].second;
    result.others -= reasons[i].first;
  }
  return result;
}

std::vector<std::pair<std::string, double>> feature_importance(const Model& model, core::RunContext& context) {
  std::vector<std::pair<std::string, double>> list;
  if (model.summaries.size() != model.features.size()) return list;
  ScorePrices prices;
  if (!model.multipliers.empty()) prices.cost = model.multipliers[model.multipliers.size() / 2].multiplier;
  const std::vector<double> sizes = sizes_of_features(model, prices, ExplainOptions().num_paths, context);
  const double total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  if (!(total > 0.0)) return list;
  for (std::size_t feature = 0; feature < sizes.size(); ++feature)
    list.emplace_back(model.features[feature].name, sizes[feature] / total);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

}  // namespace dfcl::model
