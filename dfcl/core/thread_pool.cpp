// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace dfcl::core {
namespace {

thread_local bool inside_body = false;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  start(threads);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::keep(int threads) {
  if (threads >= this->threads()) return;
  stop();
  workers_.clear();
  stopping_ = false;
  start(threads);
}

void ThreadPool::start(int threads) {
  workers_.reserve(static_cast<std::size_t>(std::max(1, threads) - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // a limit of processes or memory: those that have started do the work
  }
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [this] { return stopping_ || next_ < count_; });
    if (stopping_) return;
    run_indices(lock);
    if (busy_ == 0) done_.notify_all();
  }
}

// Takes indices one by one until none is left. Bodies are chunks of work, so the lock is taken rarely.
void ThreadPool::run_indices(std::unique_lock<std::mutex>& lock) {
  ++busy_;
  while (next_ < count_) {
    const std::size_t index = next_++;
    const auto& body = *body_;
    lock.unlock();
    std::exception_ptr failure;
    inside_body = true;
    try {
      body(index);
    } catch (...) {
      failure = std::current_exception();
    }
    inside_body = false;
    lock.lock();
    if (failure && index < failed_index_) {
      failed_index_ = index;
      failure_ = failure;
      next_ = count_;  // indices below this one are already handed out
    }
  }
  --busy_;
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (inside_body || workers_.empty() || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) body(index);
    return;
  }
  std::unique_lock lock(mutex_);
  body_ = &body;
  next_ = 0;
  count_ = count;
  failed_index_ = std::numeric_limits<std::size_t>::max();
  failure_ = nullptr;
  start_.notify_all();
  run_indices(lock);
  done_.wait(lock, [this] { return busy_ == 0; });
  count_ = 0;
  next_ = 0;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace dfcl::core
