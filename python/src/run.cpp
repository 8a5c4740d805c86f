// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "keyword_style.h"

namespace nb = nanobind;

namespace dfcl::python {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

struct Message {
  const char* kind = "progress";
  std::string text;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::string unit = {};
};

// Keeps warnings, figures of steps and progress until the calling thread passes them on; of rows, which are counted by
// the million, the latest progress only.
class Mailbox : public core::ProgressSink {
 public:
  void progress(std::string_view task, std::uint64_t done, std::uint64_t total, std::string_view unit) override {
    const std::lock_guard lock(mutex_);
    const bool replaces = !messages_.empty() && std::string_view(messages_.back().kind) == "progress" &&
                          messages_.back().text == task && (unit == "rows" || messages_.size() > kMostSteps);
    if (!replaces) messages_.emplace_back();
    messages_.back() = {"progress", std::string(task), done, total, std::string(unit)};
  }
  void detail(std::string_view text) override { add({"detail", std::string(text)}); }
  void finished(std::string_view task) override { add({"finished", std::string(task)}); }
  void warning(std::string_view text) override { add({"warning", std::string(text)}); }

  core::FieldStyle field_style() const override { return keyword_style; }

  std::vector<Message> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  void add(Message message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }

  static constexpr std::size_t kMostSteps = 1000;  // between two looks

  std::mutex mutex_;
  std::vector<Message> messages_;
};

void pass_on(Mailbox& mailbox, const RunOptions& options) {
  for (const Message& message : mailbox.take()) {
    if (options.tell.is_none()) continue;
    const nb::object said = options.tell(message.kind, message.text, message.done, message.total, message.unit);
    if (nb::isinstance<nb::str>(said) && nb::cast<std::string>(said) == "enough") *options.enough = true;
  }
}

}  // namespace

void run_without_gil(const RunOptions& options, const std::function<void(core::RunContext&)>& work) {
  Mailbox mailbox;
  std::atomic<bool> cancel = false;
  std::mutex mutex;
  std::condition_variable ended;
  bool is_done = false;
  std::exception_ptr failure;         // of the work
  std::exception_ptr python_failure;  // of a signal handler or of `tell`
  const auto look = [&] {
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      pass_on(mailbox, options);
    } catch (...) {
      python_failure = std::current_exception();
      cancel = true;
    }
  };
  std::thread worker([&] {
    try {
      core::RunContext context(options.threads, options.seed, &mailbox, &cancel);
      context.may_overwrite = options.overwrite;
      work(context);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    is_done = true;
    ended.notify_all();
  });
  {
    const nb::gil_scoped_release release;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kLook, [&] { return is_done; })) {
      if (python_failure != nullptr) continue;  // the work is on its way out
      lock.unlock();
      {
        const nb::gil_scoped_acquire acquire;
        look();
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (python_failure == nullptr) look();
  if (python_failure != nullptr) std::rethrow_exception(python_failure);
  if (failure != nullptr) std::rethrow_exception(failure);
}

void run_with_gil(const RunOptions& options, const std::function<void(core::RunContext&)>& work) {
  Mailbox mailbox;
  core::RunContext context(options.threads, options.seed, &mailbox, nullptr);
  work(context);
  pass_on(mailbox, options);
}

}  // namespace dfcl::python
