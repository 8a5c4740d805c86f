// SPDX-License-Identifier: Apache-2.0
//
// What an entry of the table of keys is made with: a section of the study, a field of it and a sentence give a key; the
// rest is said by name. Internal to the room.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/study_keys.h"

namespace dfcl::data {

template <class T>
struct Plain {
  using Type = T;
  static constexpr bool kIsOptional = false;
};
template <class T>
struct Plain<std::optional<T>> {
  using Type = T;
  static constexpr bool kIsOptional = true;
};

// field: from a Study (const or not) to the field of the key.
template <class Value, class Field>
StudyKey make_key(std::string section, std::string name, std::string meaning, Field field) {
  using Type = typename Plain<Value>::Type;
  StudyKey key;
  key.section = std::move(section);
  key.name = std::move(name);
  key.type = static_cast<KeyType>(KeyValue(Type()).index());
  key.meaning = std::move(meaning);
  key.is_optional = Plain<Value>::kIsOptional;
  key.get = [field](const Study& study) -> std::optional<KeyValue> {
    const Value& value = field(study);
    if constexpr (Plain<Value>::kIsOptional) {
      return value ? std::optional<KeyValue>(*value) : std::nullopt;
    } else {
      return value;
    }
  };
  key.set = [field](Study& study, std::optional<KeyValue> value) {
    const Study untouched;
    field(study) = value ? Value(std::get<Type>(*std::move(value))) : Value(field(untouched));
  };
  return key;
}

// What an entry of the table can say beside its name, field and sentence.
class Entry {
 public:
  explicit Entry(StudyKey& key) : key_(key) {}
  const Entry& between(double least, double most) const { return ranged({least, most}); }
  const Entry& at_least(double least) const { return ranged({least, {}}); }
  const Entry& above(double least) const { return ranged({least, {}, true}); }
  const Entry& above_up_to(double least, double most) const { return ranged({least, most, true}); }
  const Entry& one_of(std::vector<std::string> choices) const {
    key_.choices = std::move(choices);
    return *this;
  }
  const Entry& unset(std::string text) const {
    key_.unset = std::move(text);
    return *this;
  }
  const Entry& was(double unset_in_format_1) const {
    key_.unset_in_format_1 = unset_in_format_1;
    return *this;
  }
  const Entry& needs(MethodTrait trait) const {
    key_.trait = trait;
    return *this;
  }
  const Entry& flag(const std::string& verb, const std::string& name) const {
    key_.flags.push_back({verb, name});
    return *this;
  }
  const Entry& keyword(std::string name) const {
    key_.keyword = std::move(name);
    return *this;
  }
  const Entry& may_be_empty() const {
    key_.may_be_empty = true;
    return *this;
  }
  const Entry& trains_nothing() const {
    key_.trains = false;
    return *this;
  }

 private:
  const Entry& ranged(KeyRange range) const {
    key_.range = range;
    return *this;
  }
  StudyKey& key_;
};

template <class Section>
class SectionKeys {
 public:
  SectionKeys(std::vector<StudyKey>& keys, const char* name, Section Study::*section, bool trains = true)
      : keys_(keys), name_(name), section_(section), trains_(trains) {}

  template <class Value>
  Entry operator()(const char* name, Value Section::*value, const char* meaning) const {
    const auto field = [ section = section_, value ](auto& study) -> auto& { return (study.*section).*value; };
    keys_.push_back(make_key<Value>(name_, name, meaning, field));
    keys_.back().trains = trains_;
    return Entry(keys_.back());
  }

 private:
  std::vector<StudyKey>& keys_;
  const char* name_;
  Section Study::*section_;
  bool trains_;
};

}  // namespace dfcl::data
