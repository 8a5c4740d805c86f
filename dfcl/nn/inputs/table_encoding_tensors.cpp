// SPDX-License-Identifier: Apache-2.0
//
// Encodings of tables in model files.
#include "dfcl/nn/inputs/preprocessing_tensors.h"
#include "dfcl/nn/inputs/table_encoding.h"

namespace dfcl::nn {
namespace {

constexpr const char* kEdges = "preprocessing.numbers.edge";
constexpr const char* kNumEdges = "preprocessing.numbers.edges";

}  // namespace

void put_encoding(const learn::PartWriter& part, const TableEncoding& encoding) {
  put_preprocessing(part, encoding.preprocessing());
  std::vector<std::int64_t> counts;
  std::vector<float> all;
  for (const std::vector<float>& edges : encoding.edges()) {
    counts.push_back(static_cast<std::int64_t>(edges.size()));
    all.insert(all.end(), edges.begin(), edges.end());
  }
  part.tensor(kNumEdges, {counts.size()}, counts);
  part.tensor(kEdges, {all.size()}, all);
}

TableEncoding encoding_of(const learn::PartReader& part, std::size_t num_features) {
  Preprocessing preprocessing = preprocessing_of(part, num_features);
  const auto& counts = part.values<std::vector<std::int64_t>>(kNumEdges);
  const auto& all = part.values<std::vector<float>>(kEdges);
  std::vector<std::vector<float>> edges;
  std::size_t next = 0;
  for (const std::int64_t count : counts) {
    if (count < 2 || static_cast<std::size_t>(count) > all.size() - next) part.refuse_tensor(kNumEdges);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(next);
    edges.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::size_t>(count);
  }
  if (next != all.size() || edges.size() != preprocessing.numbers().size()) part.refuse_tensor(kEdges);
  return TableEncoding(std::move(preprocessing), std::move(edges));
}

}  // namespace dfcl::nn
