// SPDX-License-Identifier: Apache-2.0
//
// Each row's part as a table: id, time where the study has one, and split (train, validation, test). So that somebody
// else's model can be trained on the same rows. Memory: one batch of 65,536 rows. Internal to verbs.
#pragma once

#include <string>

#include "dfcl/data/trial.h"

namespace dfcl::verbs {

// Csv, csv.gz, parquet or arrow, as the name ends. verb: the one that writes. Rows in the order of the trial. test: a
// separate test trial, whose rows follow; may be null. Throws Error of kind file.
void write_splits(const std::string& path, const char* verb, const data::Trial& trial,
                  const data::Trial* test = nullptr);

}  // namespace dfcl::verbs
