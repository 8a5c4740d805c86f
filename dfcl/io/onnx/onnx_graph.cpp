// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/onnx/onnx_graph.h"

#include <bit>
#include <cstring>

namespace dfcl::io {
namespace {

// Numbers of onnx.proto, which fix the format.
constexpr int kIrVersion = 8;
constexpr int kOpset = 17;
constexpr int kMlOpset = 3;
constexpr int kFloat = 1;
constexpr int kInt64 = 7;
constexpr int kAttributeInt = 2;
constexpr int kAttributeFloats = 6;
constexpr int kAttributeInts = 7;
constexpr int kAttributeStrings = 8;

static_assert(std::endian::native == std::endian::little, "raw data of tensors is little-endian");

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

ProtoMessage tensor(const std::string& name, int type, const std::vector<std::int64_t>& shape, std::string_view raw) {
  ProtoMessage message;
  for (const std::int64_t size : shape) message.add_number(1, static_cast<std::uint64_t>(size));
  message.add_number(2, static_cast<std::uint64_t>(type));
  message.add_bytes(8, name);
  message.add_bytes(9, raw);
  return message;
}

ProtoMessage opset(const std::string& domain, int version) {
  ProtoMessage message;
  message.add_bytes(1, domain);
  message.add_number(2, static_cast<std::uint64_t>(version));
  return message;
}

}  // namespace

void ProtoMessage::add_varint(std::uint64_t value) {
  while (value >= 128) {
    bytes_.push_back(static_cast<char>((value & 127) | 128));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void ProtoMessage::add_number(int field, std::uint64_t value) {
  add_varint(static_cast<std::uint64_t>(field) << 3);
  add_varint(value);
}

void ProtoMessage::add_float(int field, float value) {
  add_varint((static_cast<std::uint64_t>(field) << 3) | 5);
  char raw[sizeof(float)];
  std::memcpy(raw, &value, sizeof(float));
  bytes_.append(raw, sizeof(float));
}

void ProtoMessage::add_bytes(int field, std::string_view bytes) {
  add_varint((static_cast<std::uint64_t>(field) << 3) | 2);
  add_varint(bytes.size());
  bytes_.append(bytes);
}

OnnxGraph::Attributes& OnnxGraph::Attributes::number(const std::string& name, std::int64_t value) {
  ProtoMessage& message = messages_.emplace_back();
  message.add_bytes(1, name);
  message.add_number(3, static_cast<std::uint64_t>(value));
  message.add_number(20, kAttributeInt);
  return *this;
}

OnnxGraph::Attributes& OnnxGraph::Attributes::numbers(const std::string& name,
                                                      const std::vector<std::int64_t>& values) {
  ProtoMessage& message = messages_.emplace_back();
  message.add_bytes(1, name);
  for (const std::int64_t value : values) message.add_number(8, static_cast<std::uint64_t>(value));
  message.add_number(20, kAttributeInts);
  return *this;
}

OnnxGraph::Attributes& OnnxGraph::Attributes::reals(const std::string& name, const std::vector<float>& values) {
  ProtoMessage& message = messages_.emplace_back();
  message.add_bytes(1, name);
  for (const float value : values) message.add_float(7, value);
  message.add_number(20, kAttributeFloats);
  return *this;
}

OnnxGraph::Attributes& OnnxGraph::Attributes::texts(const std::string& name, const std::vector<std::string>& values) {
  ProtoMessage& message = messages_.emplace_back();
  message.add_bytes(1, name);
  for (const std::string& value : values) message.add_bytes(9, value);
  message.add_number(20, kAttributeStrings);
  return *this;
}

std::string OnnxGraph::new_name(const char* kind) { return kind + std::to_string(next_++); }

void OnnxGraph::add_value(int field, const std::string& name, int type, std::size_t width) {
  ProtoMessage units;
  units.add_bytes(2, "units");
  ProtoMessage columns;
  columns.add_number(1, width);
  ProtoMessage shape;
  shape.add(1, units);
  shape.add(1, columns);
  ProtoMessage of_tensor;
  of_tensor.add_number(1, static_cast<std::uint64_t>(type));
  of_tensor.add(2, shape);
  ProtoMessage of_value;
  of_value.add(1, of_tensor);
  ProtoMessage value;
  value.add_bytes(1, name);
  value.add(2, of_value);
  values_.add(field, value);
}

void OnnxGraph::add_output(const std::string& name, const std::string& value, std::size_t width) {
  ProtoMessage message;
  message.add_bytes(1, value);
  message.add_bytes(2, name);
  message.add_bytes(4, "Identity");
  nodes_.add(1, message);
  add_value(12, name, kFloat, width);
}

std::string OnnxGraph::floats(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  const std::string name = new_name("constant.");
  constants_.add(5, tensor(name, kFloat, shape, bytes_of(values)));
  return name;
}

std::string OnnxGraph::numbers(const std::vector<std::int64_t>& values) {
  const std::string name = new_name("constant.");
  constants_.add(5, tensor(name, kInt64, {static_cast<std::int64_t>(values.size())}, bytes_of(values)));
  return name;
}

std::string OnnxGraph::node(const std::string& operation, const std::vector<std::string>& inputs,
                            const Attributes& attributes, const std::string& domain) {
  const std::string name = new_name("value.");
  ProtoMessage message;
  for (const std::string& input : inputs) message.add_bytes(1, input);
  message.add_bytes(2, name);
  message.add_bytes(3, operation + name.substr(5));
  message.add_bytes(4, operation);
  for (const ProtoMessage& attribute : attributes.messages()) message.add(5, attribute);
  if (!domain.empty()) message.add_bytes(7, domain);
  nodes_.add(1, message);
  return name;
}

std::string OnnxGraph::file(const std::string& producer_version,
                            const std::vector<std::pair<std::string, std::string>>& metadata) const {
  ProtoMessage name;
  name.add_bytes(2, "dfcl");
  ProtoMessage model;
  model.add_number(1, kIrVersion);
  model.add_bytes(2, "dfcl");
  model.add_bytes(3, producer_version);
  // Fields of a message may come in pieces: nodes, name, constants, inputs and outputs side by side.
  model.add_bytes(7, nodes_.bytes() + name.bytes() + constants_.bytes() + values_.bytes());
  model.add(8, opset("", kOpset));
  model.add(8, opset("ai.onnx.ml", kMlOpset));
  for (const auto& [key, value] : metadata) {
    ProtoMessage entry;
    entry.add_bytes(1, key);
    entry.add_bytes(2, value);
    model.add(14, entry);
  }
  return model.bytes();
}

}  // namespace dfcl::io
