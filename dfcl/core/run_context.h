// SPDX-License-Identifier: Apache-2.0
//
// What every long function is handed: how many threads, which seed, where progress goes, whether to stop. Nothing of
// this is global. The number of threads never changes a result.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dfcl/core/field.h"
#include "dfcl/core/memory.h"
#include "dfcl/core/precision.h"
#include "dfcl/core/thread_pool.h"

namespace dfcl::core {

// Told of progress and of things the user should know; calls come from one thread at a time.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // total is 0 where the end is not known. `unit` is what is counted: "rows", "epochs".
  virtual void progress(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit) = 0;
  virtual void finished(std::string_view task) = 0;
  virtual void warning(std::string_view text) = 0;
  // How fields are written in the warnings it is told.
  virtual FieldStyle field_style() const { return plain_field; }
  // A figure beside the progress of the task at hand, "loss 0.41"; stays until the next one or the end of the task.
  virtual void detail(std::string_view) {}
};

// What a caller asks for, as a context takes it. Throw Error of kind usage that names the field.
int checked_threads(std::int64_t threads);
std::uint64_t checked_seed(std::int64_t seed);

// Where networks are trained, as the caller chose it.
struct Device {
  bool card = false;                      // on a graphics card; else on the processor
  bool may_fall_back = false;             // to the processor, where a fit does not go on the card
  Precision precision = Precision::tf32;  // of products on the card
  std::size_t fits_at_once = 1;           // on the card; never changes a result
};

class RunContext {
 public:
  // num_threads = 0: as many as the machine has. sink and cancel may be null and must outlive the context.
  explicit RunContext(int num_threads = 0, std::uint64_t random_seed = 0, ProgressSink* sink = nullptr,
                      const std::atomic<bool>* cancel = nullptr)
      : seed(random_seed), pool(num_threads), sink_(sink), cancel_(cancel) {}

  // For work beside that of another context: as the other, but for the threads and what is told of it.
  RunContext(const RunContext& other, int num_threads, ProgressSink* sink)
      : seed(other.seed),
        pool(num_threads),
        scratch_folder(other.scratch_folder),
        device(other.device),
        may_overwrite(other.may_overwrite),
        sink_(sink),
        cancel_(other.cancel_) {}

  // Throws Error of kind interrupted once the user asked to stop. Call it per chunk of work.
  void check_cancelled() const;
  void progress(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit = "rows") const {
    if (sink_ != nullptr) sink_->progress(task, done, total, unit);
  }
  void detail(std::string_view text) const {
    if (sink_ != nullptr) sink_->detail(text);
  }
  void finished(std::string_view task) const {
    if (sink_ != nullptr) sink_->finished(task);
  }
  void warn(std::string_view text) const {
    if (sink_ != nullptr) sink_->warning(render_fields(text, sink_->field_style()));
  }
  FieldStyle field_style() const { return sink_ == nullptr ? plain_field : sink_->field_style(); }

  // Where an array that holds a number for each unit is kept: on the heap, or in a file of the scratch folder.
  Memory scratch() const { return Memory::scratch(scratch_folder); }

  std::uint64_t seed;
  ThreadPool pool;
  // For data larger than memory (memory.h); "": there is none. Never changes a result.
  std::string scratch_folder = {};
  Device device = {};
  bool may_overwrite = false;  // outputs may replace files that are there

 private:
  ProgressSink* sink_;
  const std::atomic<bool>* cancel_;
};

}  // namespace dfcl::core
