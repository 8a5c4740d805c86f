// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/stream.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/prediction_fingerprint.h"

namespace dfcl::allocate {

StreamedUnits::StreamedUnits(data::BatchSource& source, const std::vector<std::string>& arms, core::RunContext& context)
    : source_(source), context_(context), num_arms_(arms.size()) {
  for (const std::string& arm : arms) {
    revenue_columns_.push_back(*find("revenue_" + arm, true));
    cost_columns_.push_back(*find("cost_" + arm, true));
    eligible_columns_.push_back(find("eligible_" + arm, false));
    any_eligibility_ |= eligible_columns_.back().has_value();
  }
  id_column_ = find("id", false);
}

void StreamedUnits::for_each(const Body& body) {
  source_.rewind();
  data::Batch batch;
  std::size_t first_unit = 0;
  while (source_.next(batch)) {
    context_.check_cancelled();
    const Units units = convert(batch, first_unit);
    if (first_unit + units.size() > 0x7fffffffu) {
      throw core::Error({.kind = core::ErrorKind::data, .what = "too many units", .expected = "fewer than 2^31"});
    }
    body(units, &batch);
    first_unit += units.size();
    context_.progress("planning", first_unit, 0);
  }
  context_.finished("planning");
}

std::optional<std::size_t> StreamedUnits::find(const std::string& name, bool required) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < source_.columns().size(); ++i) {
    if (source_.columns()[i].name == name) return i;
    names.push_back(source_.columns()[i].name);
  }
  if (!required) return std::nullopt;
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("there is no column '{}'", name),
                     .expected = "revenue_<arm> and cost_<arm> for every arm",
                     .hint = core::suggest(name, names)});
}

template <class T>
void StreamedUnits::copy_column(const data::Batch& batch, std::size_t column, std::size_t arm,
                                core::Matrix<T>& matrix) const {
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, data::TextColumn>) {
          throw core::Error({.kind = core::ErrorKind::data,
                             .what = fmt::format("column '{}' is text", source_.columns()[column].name),
                             .expected = "numbers"});
        } else {
          for (std::size_t row = 0; row < batch.num_rows; ++row) {
            if constexpr (std::is_same_v<T, std::uint8_t>) {
              matrix(row, arm) = values[row] != 0 ? 1 : 0;
            } else {
              matrix(row, arm) = static_cast<float>(values[row]);
            }
          }
        }
      },
      batch.columns[column]);
}

Units StreamedUnits::convert(const data::Batch& batch, std::size_t first_unit) {
  if (batch.num_rows > revenue_.rows() || revenue_.cols() == 0) {
    revenue_ = core::Matrix<float>(batch.num_rows, num_arms_);
    cost_ = core::Matrix<float>(batch.num_rows, num_arms_);
    if (any_eligibility_) eligible_ = core::Matrix<std::uint8_t>(batch.num_rows, num_arms_);
  }
  for (std::size_t arm = 0; arm < num_arms_; ++arm) {
    copy_column(batch, revenue_columns_[arm], arm, revenue_);
    copy_column(batch, cost_columns_[arm], arm, cost_);
    if (!any_eligibility_) continue;
    if (eligible_columns_[arm]) {
      copy_column(batch, *eligible_columns_[arm], arm, eligible_);
    } else {
      for (std::size_t row = 0; row < batch.num_rows; ++row) eligible_(row, arm) = 1;
    }
  }
  Units units{revenue_.view().slice(0, batch.num_rows), cost_.view().slice(0, batch.num_rows), {}, first_unit, {}};
  if (any_eligibility_) units.eligible = eligible_.view().slice(0, batch.num_rows);
  if (id_column_) {
    const data::Ids ids = data::ids_of_batch(batch, *id_column_, first_unit);
    keys_.resize(batch.num_rows);
    for (std::size_t row = 0; row < batch.num_rows; ++row) keys_[row] = ids.hash(row);
    units.keys = keys_;
  }
  return units;
}

}  // namespace dfcl::allocate
