// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dfcl::cli {
namespace {

// Three figures and a letter: 950, 1.68M.
std::string short_count(double count) {
  for (const auto& [size, letter] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e4, "k"}}) {
    if (count >= size) return fmt::format("{:.3g}{}", count / (size == 1e4 ? 1e3 : size), letter);
  }
  return fmt::format("{:.0f}", count);
}

std::string clock_text(double seconds) {
  const std::int64_t whole = std::llround(std::min(seconds, 1e9));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_text(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit,
                          double seconds) {
  const auto count = static_cast<double>(done);
  const auto end = static_cast<double>(total);
  std::string text(task);
  if (total > 0) {
    text += fmt::format("  {:.0f} %  {} of {} {}", 100.0 * std::min(1.0, count / end), short_count(count),
                        short_count(end), unit);
  } else {
    text += fmt::format("  {} {}", short_count(count), unit);
  }
  if (seconds < 0.5 || done == 0) return text;  // a rate over less time is noise
  text += fmt::format("  {} {}/s", short_count(count / seconds), unit);
  if (total > done) text += fmt::format("  {} left", clock_text((end - count) * seconds / count));
  return text;
}

void ProgressLine::progress(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit) {
  if (!show_progress_) return;
  const Clock::time_point now = Clock::now();
  if (task != task_) {
    task_ = task;
    started_ = now;
  } else if (now - shown_ < std::chrono::milliseconds(100)) {
    return;
  }
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  std::fprintf(stderr, "\r%s%s\x1b[K", progress_text(task, done, total, unit, seconds).c_str(), detail_.c_str());
  std::fflush(stderr);
  on_screen_ = true;
}

void ProgressLine::finished(std::string_view) {
  wipe();
  task_.clear();
  detail_.clear();
}

void ProgressLine::warning(std::string_view text) {
  if (!show_warnings_) return;
  wipe();
  std::fprintf(stderr, "dfcl: warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

void ProgressLine::wipe() {
  if (!on_screen_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  on_screen_ = false;
}

}  // namespace dfcl::cli
