// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace dfcl::core {
namespace {

class KeptWarnings final : public ProgressSink {
 public:
  explicit KeptWarnings(FieldStyle style) : style_(style) {}
  void progress(std::string_view, std::uint64_t, std::uint64_t, std::string_view) override {}
  void finished(std::string_view) override {}
  void warning(std::string_view text) override { list.emplace_back(text); }
  FieldStyle field_style() const override { return style_; }
  std::vector<std::string> list;

 private:
  FieldStyle style_;
};

}  // namespace

std::size_t at_a_time(const RunContext& context, std::size_t count) {
  return std::max<std::size_t>(1, std::min(count, context.device.fits_at_once));
}

void run_side_by_side(RunContext& context, std::size_t count,
                      const std::function<void(std::size_t, RunContext&)>& job) {
  const std::size_t lanes = at_a_time(context, count);
  if (lanes == 1) {
    for (std::size_t index = 0; index < count; ++index) job(index, context);
    return;
  }
  const int threads_each = std::max(1, context.pool.threads() / static_cast<int>(lanes));
  std::vector<KeptWarnings> warnings(count, KeptWarnings(context.field_style()));
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    while (!failed) {
      const std::size_t index = next++;
      if (index >= count) return;
      try {
        RunContext own(context, threads_each, &warnings[index]);
        own.device.fits_at_once = context.device.fits_at_once / lanes;
        job(index, own);
      } catch (...) {
        failures[index] = std::current_exception();
        failed = true;
      }
    }
  };
  std::vector<std::thread> others;
  others.reserve(lanes - 1);
  try {
    for (std::size_t lane = 1; lane < lanes; ++lane) others.emplace_back(work);
  } catch (const std::system_error&) {  // a limit of processes or memory: those that have started do the work
  }
  work();
  for (std::thread& other : others) other.join();
  for (std::size_t index = 0; index < count; ++index) {
    for (const std::string& text : warnings[index].list) context.warn(text);
    if (failures[index]) std::rethrow_exception(failures[index]);
  }
}

}  // namespace dfcl::core
