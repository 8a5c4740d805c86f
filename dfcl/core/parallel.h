// SPDX-License-Identifier: Apache-2.0
//
// The two shapes of parallel work in this library, both with results that do not depend on the number of threads:
// fixed chunks of rows, and a pipeline whose outputs are consumed in the order of its inputs.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl::core {

// Calls body(begin, end, chunk) over fixed chunks of [0, size).
template <class Body>
void for_each_chunk(RunContext& context, std::size_t size, std::size_t chunk_size, Body&& body) {
  const std::size_t num_chunks = (size + chunk_size - 1) / chunk_size;
  context.pool.run(num_chunks, [&](std::size_t chunk) {
    context.check_cancelled();
    const std::size_t begin = chunk * chunk_size;
    body(begin, std::min(size, begin + chunk_size), chunk);
  });
}

// A sum over chunks: map(begin, end) makes a partial value, add(total, part) joins them in chunk order. Memory: one
// partial value a chunk.
template <class Value, class Map, class Add>
Value sum_chunks(RunContext& context, std::size_t size, std::size_t chunk_size, Value total, Map&& map, Add&& add) {
  std::vector<std::optional<Value>> parts((size + chunk_size - 1) / chunk_size);
  for_each_chunk(context, size, chunk_size,
                 [&](std::size_t begin, std::size_t end, std::size_t chunk) { parts[chunk].emplace(map(begin, end)); });
  for (std::optional<Value>& part : parts) add(total, *part);
  return total;
}

// produce() -> optional<Item>, one caller at a time; transform(Item) -> Result, several at once; consume(Result), one
// at a time in the order of production. At most one item a thread is in flight, so memory is bounded. The failure of
// the earliest item is the one thrown, and nothing after it is consumed.
template <class Produce, class Transform, class Consume>
void ordered_pipeline(RunContext& context, Produce&& produce, Transform&& transform, Consume&& consume) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::mutex produce_mutex;
  std::mutex order_mutex;
  std::condition_variable turn_changed;
  std::uint64_t next_ticket = 0;
  std::uint64_t turn = 0;
  std::uint64_t failed_ticket = kNone;
  std::exception_ptr failure;
  bool ended = false;

  const auto fail = [&](std::uint64_t ticket) {
    const std::lock_guard lock(order_mutex);
    if (ticket < failed_ticket) {
      failed_ticket = ticket;
      failure = std::current_exception();
    }
    turn_changed.notify_all();
  };
  const auto run_one = [&] {  // false at the end
    std::uint64_t ticket = kNone - 1;
    try {
      std::unique_lock producing(produce_mutex);
      if (ended) return false;
      ticket = next_ticket++;
      ended = true;  // until the production has succeeded
      auto item = produce();
      if (!item) return false;
      ended = false;
      producing.unlock();
      context.check_cancelled();
      auto result = transform(std::move(*item));
      std::unique_lock ordering(order_mutex);
      turn_changed.wait(ordering, [&] { return turn == ticket || failed_ticket < ticket; });
      if (failed_ticket < ticket) return false;
      ordering.unlock();
      consume(std::move(result));
      ordering.lock();
      ++turn;
      turn_changed.notify_all();
      return failed_ticket == kNone;
    } catch (...) {
      fail(ticket);
      return false;
    }
  };
  context.pool.run(static_cast<std::size_t>(context.pool.threads()), [&](std::size_t) {
    while (run_one()) {
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dfcl::core
