// SPDX-License-Identifier: Apache-2.0
//
// Our batches as Arrow's: what files and streams are written from. Internal to io. Cost: one copy of the batch.
#pragma once

#include <arrow/api.h>

#include <memory>
#include <string>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/provenance.h"

namespace dfcl::io {

// The provenance goes into the metadata.
std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<data::ColumnInfo>& columns,
                                            const data::Provenance& provenance);

// NaN and the empty text become null.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> to_record_batch(const std::shared_ptr<arrow::Schema>& schema,
                                                                   const data::Batch& batch);

}  // namespace dfcl::io
