// SPDX-License-Identifier: Apache-2.0
//
// A fixed pool of threads that runs a counted loop. Work is handed out by index in rising order and the caller works
// too; what a body computes must depend on its index only, so that results are the same for any number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
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
  void run_indices(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t busy_ = 0;
  std::size_t failed_index_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace dfcl::core
