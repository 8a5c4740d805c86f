// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/batch.h"

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

}  // namespace dfcl::data
