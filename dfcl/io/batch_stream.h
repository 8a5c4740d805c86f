// SPDX-License-Identifier: Apache-2.0
//
// Batches as a stream of the Arrow C interface, which pandas, Polars, DuckDB, PyArrow and others read. Memory: one
// batch at a time, made when the reader asks for it.
#pragma once

#include <memory>

#include "dfcl/data/batch.h"
#include "dfcl/data/provenance.h"

struct ArrowArrayStream;

namespace dfcl::io {

// Fills `stream`, which owns the source from then on. Failures of the source reach the reader through the stream.
void export_batches(std::unique_ptr<data::BatchSource> source, const data::Provenance& provenance,
                    ArrowArrayStream* stream);

}  // namespace dfcl::io
