// SPDX-License-Identifier: Apache-2.0
//
// What the tests of simulated trials share: columns by name, and means.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {

inline const data::ColumnValues& column(const std::vector<data::ColumnInfo>& infos, const data::Batch& batch,
                                        const std::string& name) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return batch.columns.at(i);
  }
  throw std::out_of_range("no column " + name);
}

template <class T>
const std::vector<T>& values(const std::vector<data::ColumnInfo>& infos, const data::Batch& batch,
                             const std::string& name) {
  return std::get<std::vector<T>>(column(infos, batch, name));
}

struct Moments {
  double mean = 0.0;
  double standard_error = 0.0;
  std::size_t count = 0;
};

inline Moments moments(std::span<const double> numbers) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double x : numbers) sum += x;
  const auto n = static_cast<double>(numbers.size());
  for (const double x : numbers) squares += (x - sum / n) * (x - sum / n);
  return {.mean = sum / n, .standard_error = std::sqrt(squares / (n - 1.0) / n), .count = numbers.size()};
}

// A comparison that counts missing values as equal.
inline bool same_values(const data::ColumnValues& a, const data::ColumnValues& b) {
  if (const auto* left = std::get_if<std::vector<float>>(&a)) {
    const auto& right = std::get<std::vector<float>>(b);
    if (left->size() != right.size()) return false;
    for (std::size_t i = 0; i < right.size(); ++i) {
      if ((*left)[i] != right[i] && !(std::isnan((*left)[i]) && std::isnan(right[i]))) return false;
    }
    return true;
  }
  return a == b;
}

}  // namespace dfcl::simulate
