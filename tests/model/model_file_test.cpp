// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "sample_model.h"

namespace dfcl::model {
namespace {

// The bytes of the model that is read, or nothing where the file is refused in one line.
std::optional<std::string> read_again(std::string_view bytes) {
  try {
    return io::safetensors_bytes(tensor_file_of(model_of(io::parse_safetensors(bytes, "model"), "model")));
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::file) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return std::nullopt;
  }
}

core::ErrorDetails refusal(const io::TensorFile& file) {
  try {
    model_of(file, "m.safetensors");
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::file) << error.what();
    return error.details();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(ModelFile, ReadsBackEveryPart) {
  const io::TemporaryFolder folder;
  const Model model = sample_model();
  write_model(folder.file("m.safetensors"), model);
  const Model read = read_model(folder.file("m.safetensors"));
  EXPECT_EQ(read.version, model.version);
  EXPECT_EQ(read.method, model.method);
  EXPECT_EQ(read.seed, model.seed);
  EXPECT_EQ(read.options, model.options);
  EXPECT_EQ(read.study, model.study);
  EXPECT_EQ(read.arms, model.arms);
  EXPECT_EQ(read.features, model.features);
  EXPECT_EQ(read.id_column, model.id_column);
  EXPECT_EQ(read.missing, model.missing);
  EXPECT_EQ(parts_of(read).preprocessing, parts_of(model).preprocessing);
  EXPECT_EQ(parts_of(read).network, parts_of(model).network);
  EXPECT_EQ(parts_of(read).members, parts_of(model).members);
  EXPECT_EQ(parts_of(read).scales, parts_of(model).scales);
  EXPECT_EQ(read.multipliers, model.multipliers);
  EXPECT_EQ(read.record, model.record);
  EXPECT_EQ(read.trained.keys, model.trained.keys);
  EXPECT_EQ(read.trained.num_units, model.trained.num_units);
  EXPECT_EQ(read.trained.trial_fingerprint, model.trained.trial_fingerprint);
  EXPECT_EQ(read.trained.split.seed, model.trained.split.seed);
  EXPECT_EQ(fingerprint_of(read), fingerprint_of(model));
  EXPECT_TRUE(folder.holds_only({"m.safetensors"}));
}

TEST(ModelFile, WritesWhatItReadByteForByteForEveryShape) {
  for (const bool heads : {true, false}) {
    for (const std::size_t members : {1u, 3u, 120u}) {
      const std::string bytes = io::safetensors_bytes(tensor_file_of(sample_model(members, heads)));
      EXPECT_TRUE(read_again(bytes) == bytes) << heads << ' ' << members;
    }
  }
  nn::NetworkParts index = index_parts(sample_parts(), loss::RevenueForm::dpm_scores);
  index.efficiency_cost_scale = 0.3;
  std::string bytes = io::safetensors_bytes(tensor_file_of(sample_model_of(index)));
  EXPECT_TRUE(read_again(bytes) == bytes);
  Model several = sample_model();
  several.predictors.push_back({std::make_shared<nn::NetworkPredictor>(sample_parts(1, false)), 0.25});
  several.predictors.push_back({sample_forest_model(2).predictors.front().predictor, 2.0});
  bytes = io::safetensors_bytes(tensor_file_of(several));
  EXPECT_TRUE(read_again(bytes) == bytes);
}

TEST(ModelFile, NamesWeightsAndKeepsTheSettledKeys) {
  const io::TensorFile file = tensor_file_of(sample_model());
  const io::Tensor* weight = file.find("predictors.0.network.1.shared.0.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, (std::vector<std::uint64_t>{16, sample_parts().preprocessing.num_inputs()}));
  for (const char* key : {"version", "method", "seed", "multipliers", "study", "record"})
    EXPECT_TRUE(file.metadata.contains(key)) << key;
  EXPECT_EQ(file.metadata.at("method"), "dfcl-mer");
}

TEST(ModelFile, KeepsLongTextsOutOfTheHeader) {
  Model model = sample_model();
  for (int i = 0; i < 100'000; ++i)
    model.features[2].levels.push_back(fmt::format("a rather long name of a level, number {}", i));
  nn::NetworkParts parts = parts_of(model);
  std::vector<nn::CategoryInput> categories = parts.preprocessing.categories();
  const std::int32_t missing = categories[0].position.back();
  categories[0].position.insert(categories[0].position.end() - 1, 100'000, -1);
  EXPECT_EQ(categories[0].position.back(), missing);
  parts.preprocessing =
      nn::Preprocessing(3, parts.preprocessing.numbers(), parts.preprocessing.indicators(), categories);
  model.predictors = {{std::make_shared<nn::NetworkPredictor>(std::move(parts)), 1.0}};
  model.record = "[" + std::string(3'000'000, ' ') + "]";
  const io::TensorFile file = tensor_file_of(model);
  EXPECT_NE(file.find("text.features"), nullptr);
  const std::string bytes = io::safetensors_bytes(file);
  EXPECT_TRUE(read_again(bytes) == bytes);
}

TEST(ModelFile, IsRefusedWhenCutOrWithAnyBitOfTheHeaderFlippedOrIsTheSame) {
  const std::string bytes = io::safetensors_bytes(tensor_file_of(sample_model(1, false)));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(read_again(std::string_view(bytes).substr(0, length))) << "cut at " << length;
  }
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  for (std::size_t bit = 0; bit < 8 * (8 + header); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (const auto again = read_again(flipped)) {
      ASSERT_TRUE(*again == bytes) << "bit " << bit;
    }
  }
}

TEST(ModelFile, RefusesLaterVersionsWithAClearLine) {
  io::TensorFile file = tensor_file_of(sample_model());
  file.metadata["format_version"] = "3";
  file.metadata["version"] = "9.1";
  const core::ErrorDetails details = refusal(file);
  EXPECT_EQ(details.what, "a model file of a later version of dfcl");
  EXPECT_NE(details.found.find("format 3, written by dfcl 9.1"), std::string::npos);
  file.metadata["format_version"] = "two";
  refusal(file);
  file.metadata["format"] = "other";
  EXPECT_EQ(refusal(file).what, "not a model of dfcl");
}

// Files with a right checksum that still make no sense.
TEST(ModelFile, RefusesPartsThatDoNotFitEachOther) {
  const io::TensorFile good = tensor_file_of(sample_model());
  EXPECT_NO_THROW(model_of(good, "m"));
  const std::vector<std::function<void(io::TensorFile&)>> faults = {
      [](io::TensorFile& file) { file.metadata["more"] = "x"; },
      [](io::TensorFile& file) { file.metadata["is_index"] = "perhaps"; },
      [](io::TensorFile& file) { file.metadata["predictors.0.members"] = "3"; },
      [](io::TensorFile& file) { file.metadata["predictors.0.members"] = "18446744073709551615"; },
      [](io::TensorFile& file) { file.metadata["seed"] = "-1"; },
      [](io::TensorFile& file) { file.metadata.erase("study"); },
      [](io::TensorFile& file) { file.metadata["arms"] = "{}"; },
      [](io::TensorFile& file) { file.metadata["arms"] = R"({"labels":["0","5","10"],"control":3,"ordered":true})"; },
      [](io::TensorFile& file) { file.metadata["arms"] = R"({"labels":["0"],"control":0,"ordered":true})"; },
      [](io::TensorFile& file) {
        file.metadata["predictors.0.network"] = R"({"inputs":7,"shared":[18446744073709551615],"heads":[8]})";
      },
      [](io::TensorFile& file) {
        file.metadata["predictors.0.network"] = R"({"inputs":7,"shared":[1000000,1000000],"heads":[8]})";
      },
      [](io::TensorFile& file) { file.metadata["predictors.0.network"] = R"({"inputs":7,"shared":[0],"heads":[8]})"; },
      [](io::TensorFile& file) {
        file.metadata["predictors.0.network"] = R"({"inputs":-7,"shared":[16],"heads":[8]})";
      },
      [](io::TensorFile& file) { file.metadata["features"] = R"([{"name":"age"}])"; },
      [](io::TensorFile& file) {
        file.metadata["features"] = "[" + std::string(1000, '[') + std::string(1000, ']') + "]";
      },
      [](io::TensorFile& file) { file.metadata["predictors.0.outcomes"] = "[]"; },
      [](io::TensorFile& file) { file.metadata["multipliers"] = R"([{"budget":"a","budget_per_unit":1e999}])"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = "[]"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = R"([{"kind":"other","weight":1.0}])"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = R"([{"kind":"forest","weight":1.0}])"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = R"([{"kind":"network","weight":0.0}])"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = R"([{"kind":"network","weight":1e308}])"; },
      [](io::TensorFile& file) { file.metadata["predictors"] = R"([{"kind":"network"}])"; },
      [](io::TensorFile& file) { file.metadata["trained"] = R"({"units":1})"; },
      [](io::TensorFile& file) { file.tensors.pop_back(); },
      [](io::TensorFile& file) { file.tensors.back().name = "predictors.0.network.0.extra"; },
      [](io::TensorFile& file) { std::swap(file.tensors.back().name, file.tensors[file.tensors.size() - 2].name); },
      [](io::TensorFile& file) {
        file.tensors.push_back({"other", {1}, std::vector<float>{1.0f}});
      },
      [](io::TensorFile& file) {
        for (io::Tensor& tensor : file.tensors) {
          if (tensor.name == "predictors.0.preprocessing.numbers.feature")
            std::get<std::vector<std::int64_t>>(tensor.values)[0] = 99;
        }
      },
      [](io::TensorFile& file) {
        for (io::Tensor& tensor : file.tensors) {
          if (tensor.name == "predictors.0.preprocessing.categories.feature")
            std::get<std::vector<std::int64_t>>(tensor.values)[1] = -1;
        }
      }};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    SCOPED_TRACE(i);
    io::TensorFile file = good;
    faults[i](file);
    refusal(file);
  }
}

TEST(ModelFile, KeepsEvaluatedPlansAndRefusesThoseThatMakeNoSense) {
  Model model = sample_model();
  EXPECT_FALSE(tensor_file_of(model).metadata.contains("evaluated_plans")) << "files without them stay as they were";
  model.evaluated = data::EvaluatedPlans{
      .units = data::UnseenUnits::validation,
      .num_units = 300,
      .chose_members = true,
      .plans = {{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {1.0 / 3.0, 0.5, 0.25, 0.125, 0.3, 0.01, -0.001}}};
  const io::TensorFile good = tensor_file_of(model);
  EXPECT_EQ(model_of(good, "m").evaluated, model.evaluated);
  const std::string text = good.metadata.at("evaluated_plans");
  const std::vector<std::pair<std::string, std::string>> faults = {{"\"units\":300", "\"units\":0"},
                                                                   {"\"units\":300", "\"units\":-1"},
                                                                   {"\"validation\"", "\"elsewhere\""},
                                                                   {"true", "1"},
                                                                   {"0.5]", "0.5,0.5]"},
                                                                   {"0.25]", "\"0.25\"]"},
                                                                   {"0.25]", "1e999]"},
                                                                   {"0.125]", "-0.125]"},
                                                                   {"[0.0,0.333", "[0.4,0.333"},
                                                                   {"\"covariance\"", "\"variance\""}};
  for (const auto& [from, to] : faults) {
    SCOPED_TRACE(from + " -> " + to);
    io::TensorFile file = good;
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos);
    file.metadata["evaluated_plans"] = std::string(text).replace(place, from.size(), to);
    refusal(file);
  }
  std::string many;
  for (std::size_t i = 0; i <= data::kMostEvaluatedPlans; ++i) many += fmt::format("{}{}.0", i == 0 ? "" : ",", i);
  io::TensorFile file = good;
  std::string& long_text = file.metadata["evaluated_plans"];
  for (const char* list :
       {"spend", "predicted_revenue", "revenue", "revenue_error", "cost", "cost_error", "covariance"}) {
    const std::size_t begin = long_text.find(fmt::format("\"{}\":[", list)) + std::strlen(list) + 4;
    long_text.replace(begin, long_text.find(']', begin) - begin, many);
  }
  refusal(file);
}

// A tile of rows takes memory for every neuron, however few the weights behind them.
TEST(ModelFile, RefusesWhatWasLearnedAfterwardsWithNumbersOutOfRange) {
  Model model = sample_model();
  const std::size_t num_arms = model.arms.size();
  const auto per_arm = [&](double value) { return std::vector<double>(num_arms, value); };
  std::vector<double> sizes = per_arm(2.25);
  sizes[model.arms.control] = 0.0;
  const learn::OutcomeForm form{loss::OutcomeKind::non_negative, true};
  model.mean_effect = {0.375, {form, per_arm(1.75)}, {form, per_arm(2.75)}};
  model.calibration = {
      10, {form, per_arm(0.125), per_arm(1.25), 0.625, 0.875, 0.0625, sizes, 0.5625, 1.125}, {}, 7.5, 3.25};
  model.stack.emplace();
  model.stack->members.push_back({.method = "tsm", .weight = 0.6875, .net_value = 3.5, .standard_error = 0.5});
  model.held_out.emplace();
  model.held_out->revenue = {1.5, 2.5};
  const io::TensorFile good = tensor_file_of(model);
  const Model read = model_of(good, "m");
  EXPECT_EQ(read.calibration, model.calibration);
  EXPECT_EQ(read.mean_effect, model.mean_effect);
  EXPECT_EQ(read.held_out, model.held_out);
  ASSERT_TRUE(read.stack.has_value());
  EXPECT_EQ(read.stack->members.at(0).weight, 0.6875);
  struct Fault {
    const char* key;
    const char* from;
    const char* to;
  };
  const Fault faults[] = {
      {"calibration", "0.125", "800.0"}, {"calibration", "0.125", "-1e5"}, {"calibration", "0.125,", ""},
      {"calibration", "1.25", "1e308"},  {"calibration", "0.625", "3.5"},  {"calibration", "2.25,", ""},
      {"calibration", "0.5625", "9.0"},  {"calibration", "1.125", "0.0"},  {"calibration", "3.25", "-1.0"},
      {"calibration", "0.0625", "-1.0"}, {"calibration", "units", "unit"}, {"mean_effect", "0.375", "-0.5"},
      {"mean_effect", "1.75", "1e300"},  {"mean_effect", "2.75,", ""},     {"stack", "0.6875", "2.0"},
      {"stack", "3.5", "\"x\""},         {"stack", "folds", "fold"},       {"held_out", "1.5", "null"},
      {"held_out", "false", "7"}};
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fmt::format("{}: {} to {}", fault.key, fault.from, fault.to));
    io::TensorFile file = good;
    std::string& text = file.metadata.at(fault.key);
    const std::size_t place = text.find(fault.from);
    ASSERT_NE(place, std::string::npos) << text;
    text.replace(place, std::strlen(fault.from), fault.to);
    refusal(file);
  }
}

TEST(ModelFile, RefusesNetworksOfAnyWidth) {
  const Model model = sample_model();
  nn::NetworkParts parts = parts_of(model);
  parts.network.shared.assign(40, nn::kMostWidth);
  try {
    nn::require_consistent(parts, model.schema(), "m");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("size of the network"), std::string::npos) << error.what();
  }
}

TEST(ModelFile, IsNeverWrittenBroken) {
  const io::TemporaryFolder folder;
  nn::NetworkParts parts = sample_parts();
  parts.members[1][3] = std::nanf("");
  EXPECT_THROW(write_model(folder.file("m.safetensors"), sample_model_of(parts)), core::Error);
  parts = sample_parts();
  parts.scales.cost.scale = 0.0;
  EXPECT_THROW(write_model(folder.file("m.safetensors"), sample_model_of(parts)), core::Error);
  Model model = sample_model();
  model.predictors.clear();
  EXPECT_THROW(write_model(folder.file("m.safetensors"), model), core::Error);
  EXPECT_TRUE(folder.holds_only({}));
}

}  // namespace
}  // namespace dfcl::model
