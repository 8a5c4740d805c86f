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

// A new stream, which owns the source. Failures of the source reach the reader through the stream.
ArrowArrayStream* new_stream(std::unique_ptr<data::BatchSource> source, const data::Provenance& provenance);

// Releases it, unless a reader has taken it over, and frees it.
void delete_stream(ArrowArrayStream* stream);

}  // namespace dfcl::io
