// SPDX-License-Identifier: Apache-2.0
//
// Lends workspaces to whichever thread asks; as many exist as were ever in use at once. For scratch memory only: what a
// workspace held before must never reach a result. A loan costs one lock.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dfcl::nn {

template <class Value>
class WorkspacePool {
 public:
  explicit WorkspacePool(std::function<std::unique_ptr<Value>()> make) : make_(std::move(make)) {}

  class Loan {
   public:
    explicit Loan(WorkspacePool& lender) : lender_(lender), value_(lender.take()) {}
    ~Loan() { lender_.give_back(std::move(value_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Value& operator*() { return *value_; }

   private:
    WorkspacePool& lender_;
    std::unique_ptr<Value> value_;
  };

 private:
  std::unique_ptr<Value> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Value> value = std::move(idle_.back());
        idle_.pop_back();
        return value;
      }
    }
    return make_();
  }
  void give_back(std::unique_ptr<Value> value) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(value));
  }

  std::mutex mutex_;
  std::function<std::unique_ptr<Value>()> make_;
  std::vector<std::unique_ptr<Value>> idle_;
};

}  // namespace dfcl::nn
