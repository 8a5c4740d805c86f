// SPDX-License-Identifier: Apache-2.0
//
// A trial as it was read, kept on disk so that it can be mapped into memory: for trials larger than memory, and for
// reading once what is trained on often. A folder for each version of the input, with one file of raw numbers a column
// (features are float32, row by row) and a header that is written last; the folder gets its name once it is whole, so a
// run that was killed leaves nothing that looks like a cache, and of two runs at once one wins. Disk: 4 bytes x units x
// features, about 10 bytes a unit, and the ids. Memory: none a unit. Time: one pass over the file to check it. Internal
// to io, beside the reader.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::io {

// What decides the contents: the files (names, sizes, times of change), what the study says about reading, and our
// version. Throws Error of kind file.
std::uint64_t trial_cache_key(const data::Study& study, const std::vector<std::string>& files);

// Reads a trial so that its columns lie in this folder, as TrialBuilder keeps them.
using ReadInto = std::function<data::Trial(const std::string& folder)>;

// The trial of this key, mapped into memory; read and kept first where it is not there yet. Throws what `read` throws,
// and Error of kind file for a cache that is cut, altered or not ours.
data::Trial cached_trial(const std::string& cache_folder, std::uint64_t key, const ReadInto& read,
                         core::RunContext& context);

}  // namespace dfcl::io
