// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/batch.h"

#include <type_traits>

namespace dfcl::data {

ColumnValues empty_values(ColumnType type) {
  switch (type) {
    case ColumnType::float32: return std::vector<float>{};
    case ColumnType::float64: return std::vector<double>{};
    case ColumnType::int64: return std::vector<std::int64_t>{};
    case ColumnType::uint64: return std::vector<std::uint64_t>{};
    case ColumnType::text: break;
  }
  return TextColumn{};
}

void append_rows(const ColumnValues& from, std::size_t begin, std::size_t end, ColumnValues& to) {
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        auto& target = std::get<Values>(to);
        for (std::size_t row = begin; row < end; ++row) target.push_back(values[row]);
      },
      from);
}

void append_rows(const ExtraColumns& from, ExtraColumns& to) {
  if (to.columns.empty()) {
    to = from;
    return;
  }
  for (std::size_t column = 0; column < from.values.size(); ++column) {
    const std::size_t rows = std::visit([](const auto& values) { return values.size(); }, from.values[column]);
    append_rows(from.values[column], 0, rows, to.values[column]);
  }
}

}  // namespace dfcl::data
