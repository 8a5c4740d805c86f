// SPDX-License-Identifier: Apache-2.0
//
// A fixed pool of threads that runs a counted loop. Work is handed out by index in rising order and the caller works
// too; what a body computes must depend on its index only, so that results are the same for any number of threads.
// Threads that wait stay awake for some 30 us, where the machine has a processor for each: loops that follow each other
// closely find them running.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dfcl::core {

class ThreadPool {
 public:
  // threads = 0: as many as the machine has.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Ends all threads but so many, the caller's among them. Not while a loop runs.
  void keep(int threads);

  // Calls body(index) for every index in [0, count) and returns when all are done. If bodies throw, the exception of
  // the smallest index is rethrown and later indices may not run. Called from inside a body it runs serially.
  void run(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  void start(int threads);
  void stop();
  void work();
  void run_indices();

  static constexpr std::size_t kLine = 64;  // bytes of a cache: what one thread writes and others watch lies apart

  alignas(kLine) std::atomic<std::size_t> next_;         // index to hand out
  alignas(kLine) std::atomic<std::uint32_t> busy_ = 0;   // workers that may have an index
  alignas(kLine) std::atomic<std::uint32_t> loops_ = 0;  // begun so far; workers wait for it to rise
  std::atomic<bool> stopping_ = false;
  std::atomic<const std::function<void(std::size_t)>*> body_ = nullptr;
  std::atomic<std::size_t> count_ = 0;
  int looks_ = 0;
  std::mutex mutex_;  // of the two below
  std::size_t failed_index_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

}  // namespace dfcl::core
