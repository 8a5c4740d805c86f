// SPDX-License-Identifier: Apache-2.0
//
// A writer of ONNX graphs: nodes are added one after the other, and the bytes of a model file come out. Just what
// dfcl export needs, in the wire format of protocol buffers. Memory: the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dfcl::io {

// One message of the wire format.
class ProtoMessage {
 public:
  void add_number(int field, std::uint64_t value);
  void add_float(int field, float value);
  void add_bytes(int field, std::string_view bytes);
  void add(int field, const ProtoMessage& message) { add_bytes(field, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t value);
  std::string bytes_;
};

class OnnxGraph {
 public:
  // Attributes of a node, by name.
  class Attributes {
   public:
    Attributes& number(const std::string& name, std::int64_t value);
    Attributes& numbers(const std::string& name, const std::vector<std::int64_t>& values);
    Attributes& reals(const std::string& name, const std::vector<float>& values);
    Attributes& texts(const std::string& name, const std::vector<std::string>& values);
    const std::vector<ProtoMessage>& messages() const { return messages_; }

   private:
    std::vector<ProtoMessage> messages_;
  };

  // A column of units x 1.
  void add_float_input(const std::string& name) { add_value(11, name, 1, 1); }
  void add_text_input(const std::string& name) { add_value(11, name, 8, 1); }
  // units x width floats; `value` is the node output that it is.
  void add_output(const std::string& name, const std::string& value, std::size_t width);

  // Constants; the returned name is what nodes take.
  std::string floats(const std::vector<float>& values, const std::vector<std::int64_t>& shape);
  std::string numbers(const std::vector<std::int64_t>& values);
  std::string scalar(float value) { return floats({value}, {}); }

  // Adds a node; returns the name of its output. domain "": the standard operators.
  std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}, const std::string& domain = "");

  // The bytes of the file, with texts about the model.
  std::string file(const std::string& producer_version,
                   const std::vector<std::pair<std::string, std::string>>& metadata) const;

 private:
  void add_value(int field, const std::string& name, int type, std::size_t width);
  std::string new_name(const char* kind);

  ProtoMessage nodes_;
  ProtoMessage constants_;
  ProtoMessage values_;  // inputs and outputs
  std::size_t next_ = 0;
};

}  // namespace dfcl::io
