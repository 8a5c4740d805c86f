// SPDX-License-Identifier: Apache-2.0
//
// Files in the safetensors layout: eight bytes with the length of the header, a JSON header that names each tensor's
// type, shape and place, and the raw numbers. Any safetensors reader opens what is written here. Reading trusts
// nothing: sizes are checked against the file before anything is allocated, tensors must fill the file without holes or
// overlaps, numbers must be finite, and a checksum over header and data must agree. Memory: the file once while it is
// parsed, and the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dfcl::io {

inline constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostTensors = 10'000;

// F32, F64, I64, U8.
using TensorValues =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint8_t>>;

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  TensorValues values;  // as many as the product of the shape
  bool operator==(const Tensor&) const = default;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;  // the key "checksum" belongs to the file and is not kept here
  std::vector<Tensor> tensors;                  // 8-byte numbers first once written, so that all are aligned
  bool operator==(const TensorFile&) const = default;

  // Null where there is none of this name.
  const Tensor* find(std::string_view name) const;
};

// Throws Error of kind file where the file cannot be written, internal where the tensors break the rules of reading.
void write_safetensors(const std::string& path, TensorFile file);

// Throws Error of kind file, in one line, for anything but a whole and unaltered file of write_safetensors.
TensorFile read_safetensors(const std::string& path);

// The same from memory; `where` names it in errors.
std::string safetensors_bytes(TensorFile file);
TensorFile parse_safetensors(std::string_view bytes, const std::string& where);

// Over everything the file means: metadata, names, types, shapes and numbers, in the order of the file. Sixteen
// hexadecimal digits.
std::string checksum_of(TensorFile file);

// Whether a file begins as a safetensors file does; false where it cannot be read.
bool is_safetensors(const std::string& path);

}  // namespace dfcl::io
