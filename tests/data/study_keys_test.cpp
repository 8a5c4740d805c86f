// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/study_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

// A value that the key must refuse, or none where it takes everything of its type (the type itself is io's to check).
std::optional<KeyValue> wrong_value(const StudyKey& key) {
  std::optional<double> out;
  if (key.range.least) out = key.range.above_least ? *key.range.least : *key.range.least - 1.0;
  if (key.range.most) out = *key.range.most + 1.0;
  switch (key.type) {
    case KeyType::truth: return std::nullopt;
    case KeyType::whole: return out ? std::optional<KeyValue>(static_cast<std::int64_t>(*out)) : std::nullopt;
    case KeyType::number: return out.value_or(std::numeric_limits<double>::quiet_NaN());
    case KeyType::wholes: return std::vector<std::int64_t>{static_cast<std::int64_t>(out.value())};
    case KeyType::numbers: return std::vector<double>{0.1, out.value_or(std::numeric_limits<double>::infinity())};
    case KeyType::table: return std::map<std::string, double>{{"revenue", out.value_or(std::nan(""))}};
    case KeyType::text:
      if (!key.choices.empty()) return std::string("zebra");
      return key.may_be_empty ? std::nullopt : std::optional<KeyValue>(std::string());
    case KeyType::texts: return std::vector<std::string>{key.choices.empty() ? "" : "zebra"};
  }
  return std::nullopt;
}

TEST(StudyKeys, EveryKeyRefusesAWrongValueByItsName) {
  std::size_t refused = 0;
  for (const StudyKey& key : study_keys()) {
    const std::optional<KeyValue> value = wrong_value(key);
    if (!value || key.swept != nullptr) continue;  // io checks a sweep's values as those of the key
    Study study;
    try {
      set_study_key(study, key, *value, "study.toml:3");
      ADD_FAILURE() << key.full_name() << " took " << value_text(*value);
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage);
      EXPECT_EQ(error.details().field, key.full_name());
      EXPECT_EQ(error.details().where, "study.toml:3");
      EXPECT_FALSE(error.details().expected.empty()) << key.full_name();
      EXPECT_FALSE(is_set(study, key)) << key.full_name();
      ++refused;
    }
  }
  EXPECT_GT(refused, 60u);
}

// False where it is left open.
bool is_true(const StudyKey& key, const Study& study) {
  const std::optional<KeyValue> value = key.get(study);
  return value && std::get<bool>(*value);
}

TEST(StudyKeys, EveryKeyIsSetReadAndTakenBackThroughItsAccessors) {
  std::set<std::string> names;
  for (const StudyKey& key : study_keys()) {
    EXPECT_TRUE(names.insert(key.full_name()).second) << key.full_name();
    EXPECT_EQ(&find_study_key(key.full_name()), &key);
    EXPECT_FALSE(key.meaning.empty()) << key.full_name();
    Study study;
    EXPECT_FALSE(is_set(study, key)) << key.full_name();
    EXPECT_EQ(key.get(study).has_value(), !key.is_optional) << key.full_name();
    KeyValue value;
    switch (key.type) {
      case KeyType::truth: value = !is_true(key, study); break;
      case KeyType::whole: value = std::int64_t{271}; break;
      case KeyType::number: value = 0.271; break;
      case KeyType::text: value = std::string("x"); break;
      case KeyType::wholes: value = std::vector<std::int64_t>{271}; break;
      case KeyType::numbers: value = std::vector<double>{0.271}; break;
      case KeyType::texts: value = std::vector<std::string>{"x"}; break;
      case KeyType::table: value = std::map<std::string, double>{{"x", 0.271}}; break;
    }
    key.set(study, value);
    EXPECT_EQ(key.get(study), value) << key.full_name();
    EXPECT_TRUE(is_set(study, key)) << key.full_name();
    key.set(study, std::nullopt);
    EXPECT_FALSE(is_set(study, key)) << key.full_name();
  }
}

TEST(StudyKeys, DefaultsAreInTheirOwnRanges) {
  for (const StudyKey& key : study_keys()) {
    Study study;
    const std::optional<KeyValue> value = key.get(study);
    const bool required = key.name == "arm" || key.name == "revenue";  // of [columns]
    if (!value || required || key.swept != nullptr) continue;
    EXPECT_NO_THROW(set_study_key(study, key, *value, "")) << key.full_name();
  }
}

TEST(StudyKeys, AMisspeltNameOrChoiceIsAnsweredWithTheLikelyOne) {
  const auto hint = [](auto&& act) {
    try {
      act();
    } catch (const core::Error& error) {
      return error.details().hint;
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ(hint([] { (void)find_study_key("metod", "alpha", ""); }), "did you mean 'method'?");
  EXPECT_EQ(hint([] { (void)find_study_key("method", "alhpa", ""); }), "did you mean 'alpha'?");
  EXPECT_EQ(hint([] {
              Study study;
              set_study_key(study, find_study_key("method.baseline"), std::string("maen"), "");
            }),
            "did you mean 'mean'?");
}

TEST(StudyKeys, TheIdentityOfARunIsEveryKeyThatTrains) {
  const Study untouched;
  for (const StudyKey& key : study_keys()) {
    if (key.swept != nullptr) continue;
    Study study;
    switch (key.type) {
      case KeyType::truth: key.set(study, !is_true(key, study)); break;
      case KeyType::whole: key.set(study, std::int64_t{271}); break;
      case KeyType::number: key.set(study, 0.271); break;
      case KeyType::text: key.set(study, std::string("x")); break;
      case KeyType::wholes: key.set(study, std::vector<std::int64_t>{271}); break;
      case KeyType::numbers: key.set(study, std::vector<double>{0.271}); break;
      case KeyType::texts: key.set(study, std::vector<std::string>{"x"}); break;
      case KeyType::table: key.set(study, std::map<std::string, double>{{"x", 0.271}}); break;
    }
    const bool trains = key.section != "data" && key.section != "report" && key.section != "deploy" &&
                        key.section != "compare" && key.section != "sweep" && key.section != "value" &&
                        key.section != "evaluate" && key.full_name() != "columns.carry";
    EXPECT_EQ(training_identity(study) != training_identity(untouched), trains) << key.full_name();
    EXPECT_EQ(training_difference(untouched, study).starts_with(key.shown_name() + " was "), trains)
        << key.full_name() << ": " << training_difference(untouched, study);
  }
}

TEST(StudyKeys, ValuesAreWrittenAsToml) {
  EXPECT_EQ(value_text(KeyValue(1.0)), "1.0");
  EXPECT_EQ(value_text(KeyValue(0.15)), "0.15");
  EXPECT_EQ(value_text(KeyValue(std::string("a \"b\"\n"))), "\"a \\\"b\\\"\\u000a\"");
  EXPECT_EQ(value_text(KeyValue(std::map<std::string, double>{{"5", 0.12}})), "{ \"5\" = 0.12 }");
  EXPECT_EQ(value_text(KeyValue(std::vector<std::int64_t>{64, 32})), "[64, 32]");
  EXPECT_EQ(type_text(find_study_key("method.epochs")), "whole number, 1 to 100,000");
  EXPECT_EQ(type_text(find_study_key("sweep.multipliers")), "list of lists of numbers");
}

}  // namespace
}  // namespace dfcl::data
