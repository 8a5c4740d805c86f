// SPDX-License-Identifier: Apache-2.0
//
// A struct's fields, described once: name, how to get it, a sentence. From this come its schema and its JSON. Adding a
// figure to a result is one line in its description:
//
//   const Described<Plan>& description(Of<Plan>) {
//     static const auto plan = Described<Plan>("PlanValue", "A plan at a budget.")
//                                  .field("revenue", &Plan::revenue, {"revenue of the plan", kPerUnit})
//                                  .maybe("true_revenue", &Plan::true_revenue, {"with a truth only", kPerUnit});
//     return plan;
//   }
//
// Fields are written in this order. A getter is a pointer to a member or a function of the struct. Internal to report.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/report/schema/schema.h"

namespace dfcl::report {

using OrderedJson = nlohmann::ordered_json;

// The units of fields, so that all say the same.
inline constexpr const char* kPerUnit = "per unit";
inline constexpr const char* kTotal = "total";
inline constexpr const char* kShare = "share";
inline constexpr const char* kUnits = "units";

struct Doc {
  Doc(const char* says, const char* in = "") : sentence(says), unit(in) {}
  std::string sentence;
  std::string unit;
};

template <class T>
struct Of {};

// Values by label, written as one object.
template <class V>
struct Keyed {
  std::vector<std::pair<std::string, V>> items;
};

// How a value is described and written. A struct has a function description(Of<Struct>) in this namespace.
template <class V>
struct ValueOf {
  static SchemaPtr schema() { return description(Of<V>{}).schema(); }
  static OrderedJson write(const V& value) { return description(Of<V>{}).write(value); }
};

template <>
struct ValueOf<bool> {
  static SchemaPtr schema() { return flag_schema(); }
  static OrderedJson write(bool value) { return value; }
};

template <class N>
requires std::is_arithmetic_v<N>
struct ValueOf<N> {
  static SchemaPtr schema() { return number_schema(); }
  static OrderedJson write(N value) { return value; }  // what is not finite becomes null when it is dumped
};

template <class S>
requires std::convertible_to<S, std::string_view>
struct ValueOf<S> {
  static SchemaPtr schema() { return text_schema(); }
  static OrderedJson write(std::string_view value) { return std::string(value); }
};

template <>
struct ValueOf<std::variant<double, std::string>> {
  static SchemaPtr schema() { return number_or_text_schema(); }
  static OrderedJson write(const std::variant<double, std::string>& value) {
    return std::visit([](const auto& one) { return OrderedJson(one); }, value);
  }
};

template <>
struct ValueOf<core::Interval> {
  static SchemaPtr schema() { return interval_schema(); }
  static OrderedJson write(const core::Interval& interval) {
    return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
  }
};

// A name with its value: a list of two.
template <>
struct ValueOf<std::pair<std::string, std::string>> {
  static SchemaPtr schema() { return list_schema(text_schema()); }
  static OrderedJson write(const std::pair<std::string, std::string>& pair) {
    return OrderedJson::array({pair.first, pair.second});
  }
};

template <class V>
struct ValueOf<std::optional<V>> {
  static SchemaPtr schema() { return ValueOf<V>::schema(); }
  static OrderedJson write(const std::optional<V>& value) {
    return value ? ValueOf<V>::write(*value) : OrderedJson(nullptr);
  }
};

template <class V>
struct ValueOf<std::vector<V>> {
  static SchemaPtr schema() { return list_schema(ValueOf<V>::schema()); }
  static OrderedJson write(const std::vector<V>& values) {
    OrderedJson list = OrderedJson::array();
    for (const V& value : values) list.push_back(ValueOf<V>::write(value));
    return list;
  }
};

template <class V>
struct ValueOf<Keyed<V>> {
  static SchemaPtr schema() { return map_schema(ValueOf<V>::schema()); }
  static OrderedJson write(const Keyed<V>& values) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [label, value] : values.items) object[label] = ValueOf<V>::write(value);
    return object;
  }
};

template <class V>
inline constexpr bool kIsOptional = false;
template <class V>
inline constexpr bool kIsOptional<std::optional<V>> = true;

template <class T>
class Described {
 public:
  Described(std::string name, std::string sentence) {
    schema_.name = std::move(name);
    schema_.sentence = std::move(sentence);
  }

  // Always there; null where it is an empty optional.
  template <class Get>
  Described& field(const std::string& name, Get get, const Doc& doc) {
    return field_as(name, ValueOf<Result<Get>>::schema(), std::move(get), doc);
  }

  // The same with a type of its own: fewer words than any text, more than the writer itself uses.
  template <class Get>
  Described& field_as(const std::string& name, SchemaPtr type, Get get, const Doc& doc) {
    using V = Result<Get>;
    return add(name, std::move(type), doc, kIsOptional<V> ? Presence::nullable : Presence::always,
               [name, get = std::move(get)](const T& item, OrderedJson& json) {
                 json[name] = ValueOf<V>::write(std::invoke(get, item));
               });
  }

  // Absent where the getter's optional is empty.
  template <class Get>
  requires kIsOptional<std::decay_t<std::invoke_result_t<Get, const T&>>> Described& maybe(const std::string& name,
                                                                                           Get get, const Doc& doc) {
    using V = typename Result<Get>::value_type;
    return add(name, ValueOf<V>::schema(), doc, Presence::sometimes,
               [name, get = std::move(get)](const T& item, OrderedJson& json) {
                 const std::optional<V>& value = std::invoke(get, item);
                 if (value) json[name] = ValueOf<V>::write(*value);
               });
  }

  // An optional struct by another description than its own; null where there is none.
  template <class U, class Get>
  Described& object(const std::string& name, Get get, const Described<U>& part, const Doc& doc) {
    return add(name, part.schema(), doc, Presence::nullable,
               [name, get = std::move(get), part](const T& item, OrderedJson& json) {
                 const std::optional<U>& value = std::invoke(get, item);
                 json[name] = value ? part.write(*value) : OrderedJson(nullptr);
               });
  }

  // An object made of the same struct's fields.
  Described& group(const std::string& name, const Described& part, const Doc& doc) {
    return add(name, part.schema(), doc, Presence::always,
               [name, part](const T& item, OrderedJson& json) { json[name] = part.write(item); });
  }

  // All fields of another description, in this object.
  template <class U, class Get>
  Described& include(const Described<U>& other, Get get) {
    const SchemaPtr fields = other.schema();
    schema_.fields.insert(schema_.fields.end(), fields->fields.begin(), fields->fields.end());
    writers_.push_back([other, get = std::move(get)](const T& item, OrderedJson& json) {
      other.write_fields(std::invoke(get, item), json);
    });
    return *this;
  }

  // Set by dfcl report for the page; no writer knows it.
  Described& for_page(const std::string& name, SchemaPtr type, const Doc& doc) {
    schema_.fields.push_back({name, std::move(type), doc.sentence, doc.unit, Presence::sometimes, Readers::page});
    return *this;
  }

  // The field before this is not for the page; a file without the field before this is none of ours.
  Described& for_programs() {
    schema_.fields.back().readers = Readers::programs;
    return *this;
  }
  Described& required() {
    schema_.fields.back().presence = Presence::required;
    return *this;
  }

  SchemaPtr schema() const { return std::make_shared<const Schema>(schema_); }
  OrderedJson write(const T& item) const {
    OrderedJson json = OrderedJson::object();
    write_fields(item, json);
    return json;
  }
  void write_fields(const T& item, OrderedJson& json) const {
    for (const Writer& writer : writers_) writer(item, json);
  }

 private:
  using Writer = std::function<void(const T&, OrderedJson&)>;
  template <class Get>
  using Result = std::decay_t<std::invoke_result_t<Get, const T&>>;

  Described& add(const std::string& name, SchemaPtr type, const Doc& doc, Presence presence, Writer writer) {
    schema_.fields.push_back({name, std::move(type), doc.sentence, doc.unit, presence});
    writers_.push_back(std::move(writer));
    return *this;
  }

  Schema schema_;
  std::vector<Writer> writers_;
};

// As a file: indented, ended by a newline. Labels may hold bytes that are no UTF-8; JSON must not, so they are
// replaced.
std::string dump_json(const OrderedJson& json);

}  // namespace dfcl::report
