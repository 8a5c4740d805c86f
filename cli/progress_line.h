// SPDX-License-Identifier: Apache-2.0
//
// Progress and warnings on standard error. Progress is one line that is rewritten at most ten times a second and
// wiped when its task is finished; it is shown on a terminal only. Warnings are shown unless quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "dfcl/core/run_context.h"

namespace dfcl::cli {

class ProgressLine : public core::ProgressSink {
 public:
  ProgressLine(bool show_progress, bool show_warnings, core::FieldStyle style)
      : show_progress_(show_progress), show_warnings_(show_warnings), style_(std::move(style)) {}
  ~ProgressLine() override { wipe(); }

  void progress(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit) override;
  void detail(std::string_view text) override { detail_ = "  " + std::string(text); }
  void finished(std::string_view task) override;
  void warning(std::string_view text) override;
  core::FieldStyle field_style() const override { return style_; }

  // Takes the line off the terminal, so that a message can stand there.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  bool show_progress_;
  bool show_warnings_;
  core::FieldStyle style_;
  bool on_screen_ = false;
  std::string task_;
  std::string detail_;  // with the space before it
  Clock::time_point started_;
  Clock::time_point shown_;
};

// "reading trial.csv  42 %  1.68M of 4M rows  2.1M rows/s  0:01 left". total = 0: the end is not known.
std::string progress_text(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit,
                          double seconds);

}  // namespace dfcl::cli
