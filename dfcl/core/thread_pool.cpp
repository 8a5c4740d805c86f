// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/thread_pool.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

namespace dfcl::core {
namespace {

thread_local bool inside_body = false;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max() / 2;  // no index is handed out
// How often a waiting thread looks before it sleeps: some 30 us. To wake sixteen sleeping threads takes 60 to 80.
constexpr int kLooks = 1000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

int num_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// Until the value is another, awake at first. Returns it.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t from, int looks) {
  std::uint32_t found = value.load(std::memory_order_acquire);
  for (int look = 0; found == from && look < looks; ++look) {
    pause_briefly();
    found = value.load(std::memory_order_acquire);
  }
  while (found == from) {
    value.wait(from, std::memory_order_acquire);
    found = value.load(std::memory_order_acquire);
  }
  return found;
}

}  // namespace

ThreadPool::ThreadPool(int threads) : next_(kNone) { start(threads > 0 ? threads : num_processors()); }

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::keep(int threads) {
  if (threads >= this->threads()) return;
  stop();
  workers_.clear();
  stopping_.store(false, std::memory_order_relaxed);
  start(threads);
}

void ThreadPool::start(int threads) {
  looks_ = threads <= num_processors() ? kLooks : 0;  // threads that wait awake must not keep others from working
  workers_.reserve(static_cast<std::size_t>(std::max(1, threads) - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // a limit of processes or memory: those that have started do the work
  }
}

void ThreadPool::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  loops_.fetch_add(1, std::memory_order_release);
  loops_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work() {
  for (std::uint32_t seen = 0;;) {
    seen = wait_for_change(loops_, seen, looks_);
    if (stopping_.load(std::memory_order_relaxed)) return;
    // In this order: who has an index counts as busy (run waits for that).
    busy_.fetch_add(1, std::memory_order_acq_rel);
    run_indices();
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

// Takes indices one by one until none is left. A worker that comes late may take those of the next loop: the body and
// the count were written before the first index was offered.
void ThreadPool::run_indices() {
  for (;;) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_acq_rel);
    if (index >= count_.load(std::memory_order_relaxed)) return;
    const auto& body = *body_.load(std::memory_order_relaxed);
    inside_body = true;
    try {
      body(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      next_.exchange(kNone, std::memory_order_acq_rel);  // indices below this one are already handed out
      if (index < failed_index_) {
        failed_index_ = index;
        failure_ = std::current_exception();
      }
    }
    inside_body = false;
  }
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (inside_body || workers_.empty() || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) body(index);
    return;
  }
  failed_index_ = std::numeric_limits<std::size_t>::max();
  body_.store(&body, std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  next_.store(0, std::memory_order_release);
  loops_.fetch_add(1, std::memory_order_release);
  loops_.notify_all();
  run_indices();
  next_.exchange(kNone, std::memory_order_acq_rel);
  for (std::uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;)
    busy = wait_for_change(busy_, busy, looks_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace dfcl::core
