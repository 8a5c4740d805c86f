// SPDX-License-Identifier: Apache-2.0
//
// Random numbers as streams keyed by (seed, purpose, index), from the counter-based generator Philox4x32-10: any row
// can make its own numbers, in any order, on any thread. A stream is 40 bytes, costs nothing to make, and yields 2^34
// words. Results depend on the C library's log, cos and exp, hence on the kind of machine, not on anything else.
#pragma once

#include <Random123/philox.h>

#include <cstdint>
#include <string_view>

namespace dfcl::core {

// A purpose is a name hashed at compile time, so that two uses of one seed never share numbers.
consteval std::uint32_t stream_purpose(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : name) hash = (hash ^ static_cast<std::uint32_t>(letter)) * 16777619u;
  return hash;
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint32_t purpose, std::uint64_t index)
      : counter_{{0, purpose, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)}},
        key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}} {}

  std::uint32_t next_u32() {
    if (used_ == 4) {
      words_ = r123::Philox4x32()(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }
  std::uint64_t next_u64() {
    const std::uint64_t high = next_u32();
    return (high << 32) | next_u32();
  }
  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool bernoulli(double probability) { return uniform() < probability; }
  // In 0..bound-1; the bias is below 2^-32 x bound.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next_u32()) * bound) >> 32);
  }
  double normal();
  double exponential();
  // Marsaglia and Tsang; any shape > 0, scale 1.
  double gamma(double shape);
  // Inversion below a mean of 30, Hoermann's transformed rejection above.
  std::int64_t poisson(double mean);

 private:
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type words_{};
  int used_ = 4;
};

}  // namespace dfcl::core
