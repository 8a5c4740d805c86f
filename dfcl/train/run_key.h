// SPDX-License-Identifier: Apache-2.0
//
// What identifies a training run: two runs with the same key go through the same numbers, so one can go on from the
// checkpoint of the other. One pass over the splits.
#pragma once

#include <cstdint>

#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

std::uint64_t run_key(const data::Trial& trial, const data::Study& study, const Settings& settings);

}  // namespace dfcl::train
