// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stack_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/small_system.h"

namespace dfcl::train {
namespace {

// The least value with weight on these members alone, whatever its sign: 2 (1 - nu) H w + nu diag(H) = price, sum w
// = 1.
std::optional<std::vector<double>> solve_on(std::span<const double> products, std::size_t num_members,
                                            const std::vector<std::size_t>& members, double nu) {
  const std::size_t n = members.size() + 1;
  std::vector<double> rows(n * (n + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return rows[i * (n + 1) + j]; };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    for (std::size_t j = 0; j + 1 < n; ++j)
      at(i, j) = 2.0 * (1.0 - nu) * products[members[i] * num_members + members[j]];
    at(i, n - 1) = at(n - 1, i) = 1.0;
    at(i, n) = -nu * products[members[i] * num_members + members[i]];
  }
  at(n - 1, n) = 1.0;
  return core::solve_system(std::move(rows), n);
}

}  // namespace

double stack_risk(std::span<const double> products, std::span<const double> weights, double nu) {
  double together = 0.0;
  double alone = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j < weights.size(); ++j)
      together += weights[i] * weights[j] * products[i * weights.size() + j];
    alone += weights[i] * products[i * weights.size() + i];
  }
  return (1.0 - nu) * together + nu * alone;
}

std::vector<double> stack_weights(std::span<const double> products, std::size_t num_members, double nu) {
  if (num_members == 0 || num_members > kMostStackMembers || products.size() != num_members * num_members)
    throw core::Error({.what = "a stack without members, or of too many"});
  if (!std::all_of(products.begin(), products.end(), [](double product) { return std::isfinite(product); }))
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "the methods of the stack cannot be weighed: their errors are not finite",
                       .hint = "outcomes or predictions are too large"});
  // Nothing changes where the same number is taken from all products, and the systems are better conditioned.
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const double product : products) least = std::min(least, product);
  for (const double product : products) most = std::max(most, product - least);
  std::vector<double> scaled(products.begin(), products.end());
  for (double& product : scaled) product = most > 0.0 ? (product - least) / most : 0.0;
  std::vector<double> best;
  double best_risk = std::numeric_limits<double>::infinity();
  for (std::size_t set = 1; set < (std::size_t{1} << num_members); ++set) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < num_members; ++i) {
      if ((set >> i & 1) != 0) members.push_back(i);
    }
    std::vector<double> weights(num_members);
    if (members.size() == 1) {
      weights[members.front()] = 1.0;
    } else {
      const auto solution = solve_on(scaled, num_members, members, nu);
      if (!solution || std::any_of(solution->begin(), solution->end() - 1, [](double w) { return !(w >= 0.0); }))
        continue;
      for (std::size_t i = 0; i < members.size(); ++i) weights[members[i]] = (*solution)[i];
    }
    const double risk = stack_risk(scaled, weights, nu);
    if (risk < best_risk) {
      best_risk = risk;
      best = std::move(weights);
    }
  }
  return best;
}

}  // namespace dfcl::train
