// SPDX-License-Identifier: Apache-2.0
//
// Collects the warnings of a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl {

class Warnings final : public core::ProgressSink {
 public:
  void progress(std::string_view, std::uint64_t, std::uint64_t, std::string_view) override {}
  void finished(std::string_view) override {}
  void warning(std::string_view text) override { list.emplace_back(text); }
  std::vector<std::string> list;
};

}  // namespace dfcl
