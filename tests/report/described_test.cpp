// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/schema/described.h"

#include <gtest/gtest.h>

#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/report/schema/reference_page.h"
#include "dfcl/report/schema/typescript.h"

namespace dfcl::report {

struct Fruit {
  std::string name;
  std::optional<double> price = {};
  std::optional<double> weight = {};
};

struct Basket {
  double worth = 0.0;
  core::Interval sweetness = {};
  std::vector<Fruit> fruits = {};
  std::vector<std::pair<std::string, std::string>> options = {};
};

static const Described<Fruit>& description(Of<Fruit>) {
  static const auto fruit = Described<Fruit>("Fruit", "One piece.")
                                .field("name", &Fruit::name, "what it is called")
                                .field("price", &Fruit::price, {"null: not for sale", kPerUnit})
                                .maybe("weight", &Fruit::weight, "where it was weighed")
                                .for_programs();
  return fruit;
}

static const Described<Basket>& description(Of<Basket>) {
  static const auto basket =
      Described<Basket>("Basket", "Many.")
          .field_as(
              "colour", choice_schema({"red", "blue"}), [](const Basket&) { return "red"; }, "of its lid")
          .required()
          .field("worth", &Basket::worth, "of all")
          .group("taste", Described<Basket>("Taste", "How it is.").field("sweetness", &Basket::sweetness, "how sweet"),
                 "how it is")
          .field("fruits", &Basket::fruits, "in it")
          .field("options", &Basket::options, "pairs")
          .field(
              "counts",
              [](const Basket& one) {
                return Keyed<std::size_t>{{{"all", one.fruits.size()}}};
              },
              "by kind")
          .for_page("left_out", number_schema(), "not shown");
  return basket;
}

namespace {

Basket sample() { return {1.5, {2.0, 1.0, 3.0}, {{"pear", 0.5, 80.0}, {"fig"}}, {{"a", "b"}}}; }

TEST(Described, WritesTheFieldsInTheirOrder) {
  EXPECT_EQ(description(Of<Basket>{}).write(sample()).dump(),
            R"({"colour":"red","worth":1.5,"taste":{"sweetness":{"value":2.0,"low":1.0,"high":3.0}},)"
            R"("fruits":[{"name":"pear","price":0.5,"weight":80.0},{"name":"fig","price":null}],)"
            R"("options":[["a","b"]],"counts":{"all":2}})");
}

TEST(Described, WritesNumbersThatDoNotExistAsNull) {
  Basket basket = sample();
  basket.worth = std::numeric_limits<double>::quiet_NaN();
  basket.sweetness = 2.0;  // without ends
  const std::string text = dump_json(description(Of<Basket>{}).write(basket));
  EXPECT_NE(text.find("\"worth\": null"), std::string::npos) << text;
  EXPECT_NE(text.find("\"low\": null"), std::string::npos) << text;
}

TEST(Described, ReplacesBytesThatAreNoText) {
  EXPECT_NE(dump_json(description(Of<Fruit>{}).write({"\xff"})).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Described, BecomesTypes) {
  const std::string types = typescript_types(*description(Of<Basket>{}).schema());
  for (const char* line :
       {"export interface Fruit {", "  price?: Maybe<number>; // per unit", "  colour: \"red\" | \"blue\";",
        "  fruits?: Maybe<Maybe<Fruit>[]>;", "  options?: Maybe<Maybe<Maybe<string>[]>[]>;",
        "  counts?: Maybe<Record<string, Maybe<number>>>;", "  left_out?: Maybe<number>;"}) {
    EXPECT_NE(types.find(line), std::string::npos) << line << "\n" << types;
  }
  EXPECT_EQ(types.find("weight"), std::string::npos) << "for programs only";
  EXPECT_LT(types.find("interface Fruit"), types.find("interface Basket"));
}

TEST(Described, BecomesAPage) {
  const SchemaPtr schema = description(Of<Basket>{}).schema();
  const std::string keys = keys_table(schema->fields);
  EXPECT_NE(keys.find("| `fruits` | list of [Fruit](#fruit) |  |  | in it |"), std::string::npos) << keys;
  EXPECT_EQ(keys.find("left_out"), std::string::npos);
  const std::string objects = objects_text({schema});
  EXPECT_NE(objects.find("| `weight` | number |  | may be absent | where it was weighed |"), std::string::npos);
  EXPECT_NE(objects.find("| `price` | number | per unit | may be null | null: not for sale |"), std::string::npos);
}

TEST(Described, RefusesOneKeyWithTwoShapes) {
  const SchemaPtr one = Described<Fruit>("One", "").field("name", &Fruit::name, "a text").schema();
  const SchemaPtr same = Described<Fruit>("Two", "").field("name", &Fruit::name, "in other words").schema();
  const SchemaPtr other = Described<Fruit>("Two", "").field("name", &Fruit::price, "a number").schema();
  EXPECT_EQ(merged_schema("Both", "", {one, same})->fields.size(), 1u);
  EXPECT_THROW(merged_schema("Both", "", {one, other}), core::Error);
}

}  // namespace
}  // namespace dfcl::report
