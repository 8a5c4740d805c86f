// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/nn/inputs/preprocessing.h"
#include "dfcl/nn/inputs/signed_log.h"

namespace dfcl::nn {
namespace {

// Chunks grow with the rows: each keeps the counts of all levels until the end, so there are at most 256 of them.
std::size_t chunk_rows(std::size_t rows) { return std::max<std::size_t>(65'536, rows / 256 + 1); }

// What the first pass learns of a column of numbers. Sums are of the distance from a reference value, which keeps
// their digits where a column varies little around a large mean.
struct NumberSums {
  double count = 0.0;
  double missing = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double nonzero = 0.0;
  double log_sum = 0.0;  // of log |x| where x is not 0

  void add(const NumberSums& other) {
    count += other.count;
    missing += other.missing;
    sum += other.sum;
    squares += other.squares;
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
    nonzero += other.nonzero;
    log_sum += other.log_sum;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(0.0, squares / count - mean() * mean())); }
};

// 1 / spread as a finite float32; columns that vary by less than 1e-30 stay as good as constant.
float factor_of(double spread) { return static_cast<float>(1.0 / std::max(spread, 1e-30)); }

struct ColumnSums {
  NumberSums numbers;
  std::vector<double> codes;  // categories: training rows of each level, missing last
};

class Fitter {
 public:
  Fitter(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
         std::span<const std::uint8_t> is_training, core::RunContext& context)
      : columns_(columns), values_(values), is_training_(is_training), context_(context), reference_(columns.size()) {}

  Preprocessing fit(Scaling scaling) {
    first_pass();
    choose_numbers(scaling);
    if (scaling == Scaling::standard) second_pass();
    std::stable_partition(numbers_.begin(), numbers_.end(),
                          [](const NumberInput& number) { return number.log_factor == 0.0f; });
    choose_categories();
    if (numbers_.empty() && indicators_.empty() && categories_.empty()) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "no feature varies among the training units",
                         .hint = "a model needs something to tell units apart; see `dfcl check`"});
    }
    return Preprocessing(columns_.size(), std::move(numbers_), std::move(indicators_), std::move(categories_));
  }

 private:
  bool uses(std::size_t row) const { return is_training_.empty() || is_training_[row] != 0; }

  // The first finite value of each column stands in for its mean.
  void find_references() {
    std::size_t open = columns_.size();
    std::vector<char> found(columns_.size(), 0);
    for (std::size_t row = 0; row < values_.rows && open > 0; ++row) {
      if (!uses(row)) continue;
      for (std::size_t feature = 0; feature < columns_.size(); ++feature) {
        if (found[feature] || !std::isfinite(values_(row, feature))) continue;
        reference_[feature] = static_cast<double>(values_(row, feature));
        found[feature] = 1;
        --open;
      }
    }
  }

  void first_pass() {
    find_references();
    std::vector<ColumnSums> zero(columns_.size());
    for (std::size_t feature = 0; feature < columns_.size(); ++feature) {
      if (columns_[feature].categorical) zero[feature].codes.resize(columns_[feature].levels.size() + 1);
    }
    const auto map = [&](std::size_t begin, std::size_t end) {
      std::vector<ColumnSums> sums = zero;
      for (std::size_t row = begin; row < end; ++row) {
        if (uses(row)) add_row(values_.row(row), sums);
      }
      return sums;
    };
    const auto add = [&](std::vector<ColumnSums>& total, const std::vector<ColumnSums>& part) {
      for (std::size_t feature = 0; feature < total.size(); ++feature) {
        total[feature].numbers.add(part[feature].numbers);
        for (std::size_t code = 0; code < total[feature].codes.size(); ++code)
          total[feature].codes[code] += part[feature].codes[code];
      }
    };
    sums_ = core::sum_chunks(context_, values_.rows, chunk_rows(values_.rows), zero, map, add);
  }

  void add_row(std::span<const float> row, std::vector<ColumnSums>& sums) const {
    for (std::size_t feature = 0; feature < row.size(); ++feature) {
      ColumnSums& column = sums[feature];
      const float value = row[feature];
      if (!column.codes.empty()) {
        const std::size_t missing = column.codes.size() - 1;
        ++column.codes[category_code(value, missing)];
        continue;
      }
      NumberSums& numbers = column.numbers;
      if (!std::isfinite(value)) {
        ++numbers.missing;
        continue;
      }
      const double x = static_cast<double>(value);
      const double distance = x - reference_[feature];
      ++numbers.count;
      numbers.sum += distance;
      numbers.squares += distance * distance;
      numbers.least = std::min(numbers.least, x);
      numbers.largest = std::max(numbers.largest, x);
      if (x != 0.0) {
        ++numbers.nonzero;
        numbers.log_sum += std::log(std::abs(x));
      }
    }
  }

  void choose_numbers(Scaling scaling) {
    for (std::size_t feature = 0; feature < columns_.size(); ++feature) {
      if (columns_[feature].categorical) continue;
      const NumberSums& sums = sums_[feature].numbers;
      if (sums.missing > 0.0 && sums.count > 0.0) indicators_.push_back(static_cast<std::uint32_t>(feature));
      if (sums.count == 0.0 || sums.least == sums.largest) continue;
      const double mean = reference_[feature] + sums.mean();
      NumberInput number{.feature = static_cast<std::uint32_t>(feature)};
      if (scaling == Scaling::unit_interval) {
        const double range = sums.largest - sums.least;
        number.center = static_cast<float>(sums.least);
        number.factor = factor_of(range);
        number.missing = static_cast<float>((mean - sums.least) / range);
      } else if (std::max(sums.largest - mean, mean - sums.least) > kHeavyTail * sums.deviation()) {
        const double typical = std::exp(sums.log_sum / sums.nonzero);
        number.log_factor = static_cast<float>(1.0 / std::clamp(typical, 1e-30, 1e30));
      }
      numbers_.push_back(number);
      mean_.push_back(mean);
    }
  }

  // Mean and deviation of what the columns became; around the transformed mean, so that no digits are lost.
  void second_pass() {
    using Sums = std::vector<NumberSums>;
    std::vector<double> origin(numbers_.size());
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      origin[i] = transformed(static_cast<float>(mean_[i]), numbers_[i]);
    const auto map = [&](std::size_t begin, std::size_t end) {
      Sums sums(numbers_.size());
      for (std::size_t row = begin; row < end; ++row) {
        if (!uses(row)) continue;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
          const float value = values_(row, numbers_[i].feature);
          if (!std::isfinite(value)) continue;
          const double distance = transformed(value, numbers_[i]) - origin[i];
          ++sums[i].count;
          sums[i].sum += distance;
          sums[i].squares += distance * distance;
        }
      }
      return sums;
    };
    const auto add = [](Sums& total, const Sums& part) {
      for (std::size_t i = 0; i < total.size(); ++i) total[i].add(part[i]);
    };
    const Sums sums =
        core::sum_chunks(context_, values_.rows, chunk_rows(values_.rows), Sums(numbers_.size()), map, add);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      numbers_[i].center = static_cast<float>(origin[i] + sums[i].mean());
      numbers_[i].factor = factor_of(sums[i].deviation());
    }
  }

  static double transformed(float value, const NumberInput& number) {
    return static_cast<double>(number.log_factor == 0.0f ? value : signed_log(value * number.log_factor));
  }

  void choose_categories() {
    for (std::size_t feature = 0; feature < columns_.size(); ++feature) {
      const std::vector<double>& codes = sums_[feature].codes;
      const auto present = std::count_if(codes.begin(), codes.end(), [](double count) { return count > 0.0; });
      if (present < 2) continue;  // a number, or constant
      CategoryInput category{.feature = static_cast<std::uint32_t>(feature)};
      double total = 0.0;
      for (const double count : codes) total += count;
      for (const double count : codes) {
        category.position.push_back(count > 0.0 ? static_cast<std::int32_t>(category.share.size()) : -1);
        if (count > 0.0) category.share.push_back(static_cast<float>(count / total));
      }
      categories_.push_back(std::move(category));
    }
  }

  const std::vector<data::FeatureColumn>& columns_;
  core::MatrixView<const float> values_;
  std::span<const std::uint8_t> is_training_;
  core::RunContext& context_;
  std::vector<double> reference_;  // one a feature
  std::vector<ColumnSums> sums_;   // one a feature
  std::vector<NumberInput> numbers_;
  std::vector<double> mean_;  // one for each of numbers_
  std::vector<std::uint32_t> indicators_;
  std::vector<CategoryInput> categories_;
};

}  // namespace

Preprocessing fit_preprocessing(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                std::span<const std::uint8_t> is_training, Scaling scaling, core::RunContext& context) {
  const bool any = is_training.empty()
                       ? values.rows > 0
                       : std::any_of(is_training.begin(), is_training.end(), [](auto use) { return use != 0; });
  if (!any) throw core::Error({.kind = core::ErrorKind::data, .what = "no training units"});
  return Fitter(columns, values, is_training, context).fit(scaling);
}

}  // namespace dfcl::nn
