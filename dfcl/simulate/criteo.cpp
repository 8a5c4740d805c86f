// SPDX-License-Identifier: Apache-2.0
//
// The preset criteo: users of web sites, advertising or none, conversions as revenue and visits as cost.
#include <fmt/format.h>

#include "dfcl/core/random.h"
#include "dfcl/simulate/unit_model.h"
#include "dfcl/simulate/user_features.h"
#include "dfcl/simulate/visit_response.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kOutcomePurpose = core::stream_purpose("simulate visit");
constexpr std::size_t kNumArms = 2;
// Of the first driver, over a million users.
constexpr double kMeanDriver = 0.4716;
constexpr double kSdDriver = 0.3075;

class Criteo final : public UnitModel {
 public:
  explicit Criteo(const SimulatorOptions& options)
      : seed_(options.seed), outcome_seed_(outcome_seed(options)), response_(options.response) {
    for (std::size_t i = 0; i < kNumUserFeatures; ++i) {
      columns_.push_back({fmt::format("f{}", i), data::ColumnType::float32});
    }
  }

  const std::vector<data::ColumnInfo>& feature_columns() const override { return columns_; }

  Roles roles() const override {
    return {.id = "",
            .arm = "treatment",
            .revenue = "conversion",
            .cost = "visit",
            .outcome_type = data::ColumnType::int64};
  }

  UnitBlock make_units(std::span<const UnitKey> keys, bool with_features) const override {
    UnitBlock block{.features = {},
                    .lean = std::vector<double>(keys.size()),
                    .revenue = core::Matrix<double>(keys.size(), kNumArms),
                    .cost = core::Matrix<double>(keys.size(), kNumArms)};
    std::array<std::vector<float>, kNumUserFeatures> values;
    if (with_features) {
      for (std::vector<float>& column : values) column.resize(keys.size());
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const User user = draw_user(seed_, keys[i].unit);
      const VisitChances chances = response_.chances(response_.scores(user.drivers), response_.published_rates());
      for (std::size_t arm = 0; arm < kNumArms; ++arm) {
        block.cost(i, arm) = chances.visit[arm];
        block.revenue(i, arm) = chances.visit[arm] * chances.conversion[arm];
      }
      block.lean[i] = (user.drivers[0] - kMeanDriver) / kSdDriver;
      if (with_features) {
        for (std::size_t feature = 0; feature < kNumUserFeatures; ++feature) {
          values[feature][i] = user.values[feature];
        }
      }
    }
    if (with_features) {
      for (std::vector<float>& column : values) block.features.emplace_back(std::move(column));
    }
    return block;
  }

  void draw_outcomes(std::span<const UnitKey> keys, const UnitBlock& block, std::span<const std::uint8_t> arms,
                     std::span<double> revenue, std::span<double> cost) const override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      // One number for both outcomes: whoever converts also visits.
      const double draw = core::RandomStream(outcome_seed_, kOutcomePurpose, keys[i].row_index()).uniform();
      cost[i] = draw < block.cost(i, arms[i]) ? 1.0 : 0.0;
      revenue[i] = draw < block.revenue(i, arms[i]) ? 1.0 : 0.0;
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t outcome_seed_;
  VisitResponse response_;
  std::vector<data::ColumnInfo> columns_;
};

}  // namespace

std::unique_ptr<UnitModel> make_criteo(const SimulatorOptions& options) { return std::make_unique<Criteo>(options); }

}  // namespace dfcl::simulate
