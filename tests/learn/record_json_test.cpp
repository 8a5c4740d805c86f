// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/record_json.h"

#include <gtest/gtest.h>

#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::learn {
namespace {

std::vector<EpochRecord> two_epochs() {
  EpochRecord first;
  first.epoch = 1;
  first.prediction_loss = 0.1 + 0.2;  // needs all seventeen digits
  EpochRecord second;
  second.member = 3;
  second.epoch = 2;
  second.decides = true;
  second.prediction_loss = -1e-300;
  second.decision_loss = 1.0 / 3.0;
  second.validation_loss = 5e300;
  second.validation_value = -0.0625;
  second.multipliers = {0.0, 1e-17, 2.0 / 3.0};
  return {first, second};
}

TEST(RecordJson, WhatIsWrittenIsReadBackExactly) {
  const std::vector<EpochRecord> written = two_epochs();
  const std::vector<EpochRecord> read = parse_record(record_list(written), "test");
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].member, written[i].member);
    EXPECT_EQ(read[i].epoch, written[i].epoch);
    EXPECT_EQ(read[i].decides, written[i].decides);
    EXPECT_EQ(read[i].prediction_loss, written[i].prediction_loss);
    EXPECT_EQ(read[i].decision_loss, written[i].decision_loss);
    EXPECT_EQ(read[i].validation_loss, written[i].validation_loss);
    EXPECT_EQ(read[i].validation_value, written[i].validation_value);
    EXPECT_EQ(read[i].multipliers, written[i].multipliers);
  }
  EXPECT_EQ(record_list(read), record_list(written));
}

TEST(RecordJson, FiguresThatAreNoNumbersAreLeftOut) {
  std::vector<EpochRecord> written = two_epochs();
  written[1].validation_loss = std::numeric_limits<double>::infinity();
  const std::vector<EpochRecord> read = parse_record(record_list(written), "test");
  EXPECT_FALSE(read[1].validation_loss.has_value());
  EXPECT_EQ(read[1].validation_value, written[1].validation_value);
}

TEST(RecordJson, ALineIsOneObjectWithoutWhatWasNotMeasured) {
  const std::string line = record_line(two_epochs().front());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find("validation"), std::string::npos);
  EXPECT_EQ(line.front(), '{');
}

TEST(RecordJson, DamagedTextIsRefusedAsAFileError) {
  for (const char* text : {"", "[", "[{}]", "[1]", "{\"a\": 1}", "[{\"member\": \"x\"}]"}) {
    try {
      (void)parse_record(text, "here");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::file);
      EXPECT_EQ(error.details().where, "here");
    }
  }
}

}  // namespace
}  // namespace dfcl::learn
