// SPDX-License-Identifier: Apache-2.0
//
// What the names of columns and arms hint at. Names decide only between columns that the data cannot tell apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dfcl::check {

enum class Word {
  arm,
  revenue,
  cost,
  attention,
  after,
  outcome,
  before,
  id,
  time,
  cluster,
  model,
  loss,   // an outcome of which more is worse: churn, refunds
  money,  // an amount
  count,  // how many
  weight,
  propensity
};

// How much a name speaks for a meaning: 0 not at all, 1 weakly, 2 well, 3 it is the word. Names are taken apart at
// everything that is no letter and where a capital follows a small letter; accents do not count.
int name_score(const std::string& name, Word word);

// "orders_7d", "sales90d": over a stretch of time, before unless the arms differ in it.
bool is_window(const std::string& name);

// How much a label says "nothing was given": 0 not at all, 1 perhaps ("A", "0"), 2 surely ("control", "No E-Mail").
int control_score(const std::string& label);

std::string lower_case(std::string text);
// The words of a name, in small letters.
std::vector<std::string> words_of(const std::string& name);
// A name or label as a message or a comment can hold it: no control characters, at most 60 bytes.
std::string shown(std::string_view text);

}  // namespace dfcl::check
