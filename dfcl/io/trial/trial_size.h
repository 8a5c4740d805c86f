// SPDX-License-Identifier: Apache-2.0
//
// How large the trial of a study is, before it is read (tables/table_size.h).
#pragma once

#include <cstddef>

#include "dfcl/data/study.h"
#include "dfcl/io/tables/table_size.h"

namespace dfcl::io {

struct TrialSize {
  TableSize table;
  double features = 0.0;
  double unit_bytes = 0.0;  // of a unit of the trial in memory, while it is read
};

// Throws Error as read_trial does.
TrialSize trial_size(const data::Study& study);

}  // namespace dfcl::io
