// SPDX-License-Identifier: Apache-2.0
//
// From a study to its trial in memory: CSV, gzipped CSV, Parquet or Arrow IPC, one file, a glob or a folder. Blocks of
// the files are parsed and converted in parallel and joined in file order, straight into the row-major matrix.
// Memory: the matrix, about 30 bytes a unit, and a few blocks of 8 MiB a thread.
#pragma once

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::io {

// Where the trial of a study lies.
std::string trial_path(const data::Study& study);

// Throws Error: kind file for what cannot be read, data for what makes no sense (with file, line and column).
// cache_folder: the trial is kept there and mapped into memory (trial_cache.h), and the files are read only where they
// or what the study says about them have changed; "": in memory, or in files without a name where the context has a
// scratch folder. The trial is the same either way.
data::Trial read_trial(const data::Study& study, core::RunContext& context, const std::string& cache_folder = "");

// Some rows of a trial that lies on many machines, down to none: nothing is asked of them that only the whole can say.
// study: its [arms] order and control name all arms of the whole; no split by time, no winsorising.
data::Trial read_trial_part(const data::Study& study, core::RunContext& context);

}  // namespace dfcl::io
