// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/machine.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <span>
#include <thread>
#include <vector>

#include "dfcl/nn/cuda/card.h"
#include "dfcl/nn/gemm.h"

namespace dfcl::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.15;  // of each measurement
constexpr std::size_t kRows = 256, kWidth = 128;
constexpr std::size_t kBufferBytes = std::size_t{256} << 20;  // more than caches hold
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return {};
}

std::uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

// Operations a second of one layer's products on `threads` threads at once, forward and back.
double product_rate(core::RunContext& context, std::size_t threads) {
  std::atomic<std::uint64_t> layers = 0;
  const Clock::time_point start = Clock::now();
  context.pool.run(threads, [&](std::size_t) {
    const std::vector<float> weights(kWidth * kWidth, 0.01f), before(kWidth * kRows, 0.5f);
    std::vector<float> after(kWidth * kRows), gradient(kWidth * kWidth), slopes(kWidth * kRows);
    while (seconds_since(start) < kSeconds) {
      nn::multiply(kWidth, kRows, kWidth, {weights.data(), kWidth}, {before.data(), kRows}, false, after.data(), kRows);
      nn::multiply(kWidth, kWidth, kRows, {after.data(), kRows}, {before.data(), kRows, true}, false, gradient.data(),
                   kWidth);
      nn::multiply(kWidth, kRows, kWidth, {weights.data(), kWidth, true}, {after.data(), kRows}, false, slopes.data(),
                   kRows);
      layers.fetch_add(1, std::memory_order_relaxed);
    }
  });
  return static_cast<double>(layers.load()) * 6.0 * static_cast<double>(kRows * kWidth * kWidth) / seconds_since(start);
}

// Bytes a second that `threads` threads read, each piece by one of them.
double read_rate(core::RunContext& context, std::span<const std::uint64_t> buffer, std::size_t threads) {
  constexpr std::size_t kPiece = kPieceBytes / sizeof(std::uint64_t);
  const std::size_t pieces = buffer.size() / kPiece;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> total = 0;  // so that nothing is left out
  const Clock::time_point start = Clock::now();
  context.pool.run(threads, [&](std::size_t) {
    std::uint64_t sum = 0;
    while (seconds_since(start) < kSeconds) {
      const std::size_t first = next.fetch_add(1, std::memory_order_relaxed) % pieces * kPiece;
      for (std::size_t i = 0; i < kPiece; ++i) sum += buffer[first + i];
    }
    total.fetch_add(sum, std::memory_order_relaxed);
  });
  const double seconds = seconds_since(start);
  context.check_cancelled();
  return total.load() == 0 ? 0.0 : static_cast<double>(next.load() * kPieceBytes) / seconds;
}

}  // namespace

Machine measure_machine(core::RunContext& context) {
  Machine machine;
  machine.processor = processor_text();
  machine.kernels = core::processor();
  machine.processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  machine.threads = context.pool.threads();
  machine.memory = memory_bytes();
  const nn::cuda::CardAnswer answer = nn::cuda::find_card();
  machine.card = answer.name;
  machine.why_no_card = answer.reason;
  const auto threads = static_cast<std::size_t>(machine.threads);
  machine.products.one_thread = product_rate(context, 1) / 1e9;
  machine.products.all_threads = threads == 1 ? machine.products.one_thread : product_rate(context, threads) / 1e9;
  const std::vector<std::uint64_t> buffer(kBufferBytes / sizeof(std::uint64_t), 1);
  machine.reading.one_thread = read_rate(context, buffer, 1) / 1e9;
  machine.reading.all_threads = threads == 1 ? machine.reading.one_thread : read_rate(context, buffer, threads) / 1e9;
  return machine;
}

}  // namespace dfcl::train
