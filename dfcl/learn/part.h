// SPDX-License-Identifier: Apache-2.0
//
// A predictor's part of a model file: texts and tensors whose names begin with a prefix of its own, so that several
// predictors, and predictors inside predictors, share one file. Texts longer than kMostHeaderText are tensors of bytes
// named text.<key>, so that the header stays small. Reading trusts nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::learn {

inline constexpr std::size_t kMostHeaderText = 32 * 1024;

class PartWriter {
 public:
  // prefix: "" or ending in a dot.
  PartWriter(io::TensorFile& file, std::string prefix) : file_(&file), prefix_(std::move(prefix)) {}

  void text(const std::string& key, const std::string& text) const;
  void tensor(const std::string& name, std::vector<std::uint64_t> shape, io::TensorValues values) const;
  // A list of predictors inside this part: their kinds and weights as the text `name`, each in a part of its own.
  void predictors(const std::string& name, const std::vector<WeightedPredictor>& list) const;

 private:
  io::TensorFile* file_;
  std::string prefix_;
};

class PartReader;
// A learner's reader of its part.
using LoadPredictor = std::unique_ptr<Predictor> (*)(const PartReader& part);
// The list of learners: a kind's reader, null where there is none.
using FindLoader = LoadPredictor (*)(const std::string& kind);

class PartReader {
 public:
  // All must outlive the reader. where: the file, for messages. The schema is to be read before predictors are.
  PartReader(const io::TensorFile& file, std::string prefix, const std::string& where, const Schema& schema,
             FindLoader find_loader, int depth = 0)
      : file_(file),
        prefix_(std::move(prefix)),
        where_(where),
        schema_(schema),
        find_loader_(find_loader),
        depth_(depth) {}

  const Schema& schema() const { return schema_; }
  const std::string& where() const { return where_; }

  // Each throws Error of kind file where there is no such thing, or not of this type.
  std::string text(const std::string& key) const;
  std::uint64_t number(const std::string& key) const;  // a text of digits
  template <class Values>
  const Values& values(const std::string& name) const;
  std::vector<WeightedPredictor> predictors(const std::string& name) const;

  // The tensors of this part whose names begin so, in the order of the file, without the prefix of the part.
  struct Named {
    std::string name;
    const io::Tensor* tensor;
  };
  std::vector<Named> tensors(const std::string& beginning) const;

  [[noreturn]] void refuse_tensor(const std::string& name) const;
  [[noreturn]] void refuse(std::string what) const;

 private:
  const io::TensorFile& file_;
  std::string prefix_;
  const std::string& where_;
  const Schema& schema_;
  FindLoader find_loader_;
  int depth_;  // of predictors inside predictors
};

template <class Values>
const Values& PartReader::values(const std::string& name) const {
  const io::Tensor* tensor = file_.find(prefix_ + name);
  const Values* values = tensor == nullptr ? nullptr : std::get_if<Values>(&tensor->values);
  if (values == nullptr) refuse_tensor(name);
  return *values;
}

// Texts and whole numbers of a file, as the parts and the model itself keep them.
void put_text(io::TensorFile& file, const std::string& key, const std::string& text);
bool has_text(const io::TensorFile& file, const std::string& key);
std::string text_of(const io::TensorFile& file, const std::string& key, const std::string& where);
std::uint64_t whole_number(const std::string& text, const std::string& where);

}  // namespace dfcl::learn
