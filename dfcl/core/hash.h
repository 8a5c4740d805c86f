// SPDX-License-Identifier: Apache-2.0
//
// A 64-bit hash of bytes, the same on every machine and in every version: splits, hold-outs and fingerprints depend
// on it. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dfcl::core {

// A bijection that spreads every input bit over the word (the finaliser of SplitMix64).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t combine_hashes(std::uint64_t a, std::uint64_t b) { return mix_bits(a ^ mix_bits(b)); }

inline std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint64_t hash = mix_bits(seed ^ size);
  if (size >= 256) {  // four lanes side by side, so that long inputs are not bound by the latency of one
    std::uint64_t lanes[4] = {hash, mix_bits(hash + 1), mix_bits(hash + 2), mix_bits(hash + 3)};
    for (; size >= 32; size -= 32, bytes += 32) {
      std::uint64_t words[4];
      std::memcpy(words, bytes, 32);
      for (int lane = 0; lane < 4; ++lane) lanes[lane] = mix_bits(lanes[lane] ^ words[lane]);
    }
    hash = combine_hashes(combine_hashes(lanes[0], lanes[1]), combine_hashes(lanes[2], lanes[3]));
  }
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = mix_bits(hash ^ word);
  }
  if (size > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, size);
    hash = mix_bits(hash ^ word);
  }
  return hash;
}

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

// A hash as a fraction in [0, 1).
constexpr double hash_fraction(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1.0p-53; }

}  // namespace dfcl::core
