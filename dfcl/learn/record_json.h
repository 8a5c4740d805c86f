// SPDX-License-Identifier: Apache-2.0
//
// The training record as JSON: one object for each epoch, as lines for a log or as a list inside the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dfcl/learn/epoch_record.h"

namespace dfcl::learn {

std::string record_line(const EpochRecord& record);
std::string record_list(const std::vector<EpochRecord>& records);
// The reverse of record_list. Throws Error of kind file.
std::vector<EpochRecord> parse_record(std::string_view text, const std::string& where);

}  // namespace dfcl::learn
