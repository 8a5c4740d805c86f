// SPDX-License-Identifier: Apache-2.0
//
// What a comparison trains: every method as the study says, and beside it the alternatives of [sweep], one at a time,
// for the methods that use them. No time or memory worth a word.
#pragma once

#include <string>
#include <vector>

#include "dfcl/data/study.h"

namespace dfcl::compare {

struct ComparisonEntry {
  std::string name;                   // "dfcl-ifd", "dfcl-ifd alpha=0.5"; no two are the same
  std::string file;                   // the name, fit for a file: "dfcl-ifd_alpha=0.5"; no two are the same
  std::string method;                 // "dfcl-ifd"
  std::string swept;                  // "alpha"; "settings"; "" for the method as the study says
  std::string value;                  // "0.5"; the name of the settings
  std::vector<std::string> settings;  // "method.alpha=0.5"

  bool is_alternative() const { return !swept.empty(); }
};

// In the order of the methods, each followed by its alternatives; the first is the reference. Throws Error of kind
// usage: no methods, unknown or twice, settings that cannot be read, that are for no method, that would change the rows
// all are judged on or that try no value, and names too long for a file.
std::vector<ComparisonEntry> comparison_entries(const data::Study& study);

// The study by which an entry is trained: that of `dfcl train` with these settings.
data::Study study_for_entry(const data::Study& study, const ComparisonEntry& entry);

}  // namespace dfcl::compare
