// SPDX-License-Identifier: Apache-2.0
//
// How a graphics card multiplies. Sums, parameters and moments are float32 in all three.
#pragma once

#include <cstdint>
#include <string>

namespace dfcl::core {

enum class Precision : std::uint8_t {
  tf32,  // factors with 10 bits after the point
  fp32,  // products of float32, by parts: error as of float32
  bf16,  // factors with 7 bits after the point, kept in 16 bits: half the memory, about twice as fast as tf32
};

inline std::string name_of(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::bf16 ? "bf16" : "tf32";
}

}  // namespace dfcl::core
