// SPDX-License-Identifier: Apache-2.0
//
// The features of a part of a file: what trials and units to predict have in common. Internal to io. Cost: one pass
// over the columns, in blocks of rows that stay in cache while the row-major matrix is filled.
#pragma once

#include <arrow/api.h>

#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {

// The labels of a column; those that stand for a missing code are missing.
LabelColumn category_labels(const arrow::Array& array, std::span<const float> missing_codes, const std::string& name);

// rows x features. columns[f] is the place of feature f in the batch; where categories[f] has codes the matrix gets
// those, else the column's numbers, in which missing codes and infinities become NaN.
core::Matrix<float> feature_values(const arrow::RecordBatch& batch, std::span<const int> columns,
                                   const std::vector<LabelColumn>& categories, std::span<const float> missing_codes);
// The same into memory of somebody else, of as many rows as the batch.
void fill_feature_values(const arrow::RecordBatch& batch, std::span<const int> columns,
                         const std::vector<LabelColumn>& categories, std::span<const float> missing_codes,
                         core::MatrixView<float> values);

}  // namespace dfcl::io
