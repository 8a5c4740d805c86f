// SPDX-License-Identifier: Apache-2.0
//
// What Stage::on_epoch throws where the caller has seen enough: the fit at hand ends as if its last epoch or tree had
// been reached, and is returned with what it has learned. Learners without epochs never hear of it.
#pragma once

namespace dfcl::learn {

struct Enough {};

// Calls on_epoch; false where it has seen enough.
template <class OnEpoch, class Record>
bool wants_more(const OnEpoch& on_epoch, const Record& record) {
  try {
    if (on_epoch) on_epoch(record);
    return true;
  } catch (const Enough&) {
    return false;
  }
}

}  // namespace dfcl::learn
