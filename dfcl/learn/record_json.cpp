// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/record_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "dfcl/core/error.h"

namespace dfcl::learn {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const EpochRecord& record) {
  ordered_json json = {{"member", record.member},
                       {"epoch", record.epoch},
                       {"decides", record.decides},
                       {"prediction_loss", record.prediction_loss},
                       {"decision_loss", record.decision_loss}};
  const auto put = [&](const char* name, const std::optional<double>& figure) {
    if (figure && std::isfinite(*figure)) json[name] = *figure;  // a wild validation unit may make it infinite
  };
  put("validation_loss", record.validation_loss);
  put("validation_value", record.validation_value);
  if (record.went_back) json["went_back"] = true;
  if (record.kept) json["kept"] = true;
  json["multipliers"] = record.multipliers;
  return json;
}

}  // namespace

std::string record_line(const EpochRecord& record) { return to_json(record).dump(); }

std::string record_list(const std::vector<EpochRecord>& records) {
  ordered_json list = ordered_json::array();
  for (const EpochRecord& record : records) list.push_back(to_json(record));
  return list.dump();
}

std::vector<EpochRecord> parse_record(std::string_view text, const std::string& where) {
  std::vector<EpochRecord> records;
  try {
    for (const auto& json : ordered_json::parse(text)) {
      EpochRecord record;
      record.member = json.at("member");
      record.epoch = json.at("epoch");
      record.decides = json.at("decides");
      record.prediction_loss = json.at("prediction_loss");
      record.decision_loss = json.at("decision_loss");
      if (json.contains("validation_loss")) record.validation_loss = json.at("validation_loss");
      if (json.contains("validation_value")) record.validation_value = json.at("validation_value");
      record.went_back = json.value("went_back", false);
      record.kept = json.value("kept", false);
      record.multipliers = json.at("multipliers").get<std::vector<double>>();
      records.push_back(std::move(record));
    }
  } catch (const nlohmann::json::exception&) {
    throw core::Error({.kind = core::ErrorKind::file, .what = "the training record is damaged", .where = where});
  }
  return records;
}

}  // namespace dfcl::learn
