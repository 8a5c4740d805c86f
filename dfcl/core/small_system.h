// SPDX-License-Identifier: Apache-2.0
//
// Systems of a few linear equations. Time n^3, memory n^2.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace dfcl::core {

// Gaussian elimination with row exchanges. rows: n x (n + right_sides), row by row. The solutions, n x right_sides;
// none where the system is singular.
std::optional<std::vector<double>> solve_system(std::vector<double> rows, std::size_t n, std::size_t right_sides = 1);

// Of a matrix n x n; none where it is singular.
std::optional<std::vector<double>> inverse_of(const std::vector<double>& matrix, std::size_t n);

}  // namespace dfcl::core
