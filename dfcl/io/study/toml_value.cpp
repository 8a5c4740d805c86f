// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/toml_value.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

using data::KeyType;
using data::KeyValue;

std::string node_text(const toml::node& node) {
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  if (const auto* list = node.as_array()) {
    std::vector<std::string> parts;
    for (const toml::node& part : *list) parts.push_back(node_text(part));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::ostringstream stream;
  node.visit([&](const auto& value) { stream << value; });
  return stream.str();
}

class Reader {
 public:
  Reader(const data::StudyKey& key, const std::string& where) : key_(key), where_(where) {}

  KeyValue read(const toml::node& node, KeyType type) const {
    switch (type) {
      case KeyType::truth: return truth(node);
      case KeyType::whole: return whole(node);
      case KeyType::number: return number(node);
      case KeyType::text: return text(node);
      case KeyType::wholes: return list<std::int64_t>(node, [this](const auto& part) { return whole(part); });
      case KeyType::numbers: return list<double>(node, [this](const auto& part) { return number(part); });
      case KeyType::texts: return list<std::string>(node, [this](const auto& part) { return text(part); });
      case KeyType::table: return table(node);
    }
    return false;
  }

 private:
  core::Error wrong_type(const toml::node& node, const char* expected) const {
    return core::usage_error(where_, "a value of the wrong type", node_text(node), expected, "", key_.full_name());
  }

  bool truth(const toml::node& node) const {
    if (!node.is_boolean()) throw wrong_type(node, "true or false");
    return node.as_boolean()->get();
  }
  std::int64_t whole(const toml::node& node) const {
    if (!node.is_integer()) throw wrong_type(node, "a whole number");
    return node.as_integer()->get();
  }
  double number(const toml::node& node) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value)) throw wrong_type(node, "a number");
    return *value;
  }
  std::string text(const toml::node& node) const {
    if (const auto* value = node.as_string()) return value->get();
    if (const auto* value = node.as_integer()) return std::to_string(value->get());
    if (const auto* value = node.as_floating_point()) return number_text(value->get());
    throw wrong_type(node, "text in quotes");
  }
  template <class T, class Read>
  std::vector<T> list(const toml::node& node, Read&& read_part) const {
    const auto* parts = node.as_array();
    if (parts == nullptr) throw wrong_type(node, "a list in square brackets");
    std::vector<T> values;
    for (const toml::node& part : *parts) values.push_back(read_part(part));
    return values;
  }
  std::map<std::string, double> table(const toml::node& node) const {
    const auto* entries = node.as_table();
    if (entries == nullptr) throw wrong_type(node, "a table such as { \"a\" = 0.5 }");
    std::map<std::string, double> values;
    for (const auto& [name, entry] : *entries) values[std::string(name.str())] = number(entry);
    return values;
  }

  const data::StudyKey& key_;
  const std::string& where_;
};

// Every value is read and checked as the key itself would be, so a wrong one is found at once.
std::vector<std::string> read_sweep(const toml::node& node, const data::StudyKey& key, const std::string& where) {
  const auto* parts = node.as_array();
  if (parts == nullptr || parts->empty())
    throw core::usage_error(where, "not a list of values", node_text(node),
                            fmt::format("values of {} in square brackets", key.swept->full_name()), "",
                            key.full_name());
  std::vector<std::string> values;
  for (const toml::node& part : *parts) {
    data::Study scratch;
    data::set_study_key(scratch, *key.swept, Reader(key, where).read(part, key.swept->type), where);
    values.push_back(data::value_text(scratch, *key.swept));
  }
  return values;
}

}  // namespace

KeyValue read_key_value(const toml::node& node, const data::StudyKey& key, const std::string& where) {
  if (key.swept != nullptr) return read_sweep(node, key, where);
  return Reader(key, where).read(node, key.type);
}

}  // namespace dfcl::io
