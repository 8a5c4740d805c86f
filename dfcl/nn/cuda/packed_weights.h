// SPDX-License-Identifier: Apache-2.0
//
// Numbers as products of a precision read them, made on the host.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "dfcl/nn/cuda/plan.h"

namespace dfcl::nn::cuda {

// Words of a precision: a float each, or two numbers of bf16.
class PackedWeights {
 public:
  PackedWeights(std::size_t words, Precision precision) : words_(words, 0.0f), precision_(precision) {}

  // `place` counts numbers.
  void set(std::int32_t place, float value) { set(words_.data(), static_cast<std::size_t>(place), precision_, value); }
  // `place` counts words.
  void set_float(std::int32_t place, float value) { words_[static_cast<std::size_t>(place)] = value; }
  const std::vector<float>& words() const { return words_; }

  static void write(std::span<const float> from, Precision precision, float* to) {
    for (std::size_t i = 0; i < from.size(); ++i) set(to, i, precision, from[i]);
  }

 private:
  static void set(float* words, std::size_t place, Precision precision, float value) {
    if (precision == Precision::bf16) {
      const std::uint16_t bits = bf16_bits(value);
      std::memcpy(reinterpret_cast<unsigned char*>(words) + place * sizeof(bits), &bits, sizeof(bits));
    } else {
      words[place] = precision == Precision::tf32 ? rounded_to_tf32(value) : value;
    }
  }

  std::vector<float> words_;
  Precision precision_;
};

}  // namespace dfcl::nn::cuda
