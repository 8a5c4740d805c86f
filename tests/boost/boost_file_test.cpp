// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "dfcl/boost/boost_tensors.h"
#include "dfcl/core/error.h"
#include "made_set.h"

namespace dfcl::boost {
namespace {

const std::string kWhere = "model.safetensors";

learn::LoadPredictor no_loader(const std::string&) { return nullptr; }

struct Saved {
  MadeSet made;
  io::TensorFile file;

  Saved() {
    const auto mean = [](std::span<const float> x, std::size_t arm) {
      return (1.0 + static_cast<double>(x[0])) * (1.0 + 0.3 * static_cast<double>(arm));
    };
    made = made_set(2000, 3, 3, 1, mean, mean);
    made.arms.ordered = false;
    made.features.columns[1].categorical = true;
    made.features.columns[1].levels = {"(other)", "a", "b"};
    for (std::uint32_t unit = 0; unit < made.num_units(); ++unit)
      made.features.values(unit, 1) = static_cast<float>(unit % 3);
    data::Study study = small_study();
    study.boost.trees = 12;
    fitted(made, study).predictor->save(learn::PartWriter(file, ""));
  }

  std::unique_ptr<learn::Predictor> load(const io::TensorFile& from) const {
    const learn::Schema schema{made.arms, made.features.columns};
    auto predictor = load_boost(learn::PartReader(from, "", kWhere, schema, no_loader));
    predictor->require_fits(schema, kWhere);
    return predictor;
  }
};

template <class Values>
Values& values_of(io::TensorFile& file, const std::string& name) {
  for (io::Tensor& tensor : file.tensors) {
    if (tensor.name == name) return std::get<Values>(tensor.values);
  }
  throw std::runtime_error("no tensor " + name);
}

TEST(BoostFile, IsReadBackAsItWasWritten) {
  const Saved saved;
  const auto loaded = saved.load(saved.file);
  io::TensorFile again;
  loaded->save(learn::PartWriter(again, ""));
  EXPECT_TRUE(again == saved.file);
  EXPECT_FALSE(io::safetensors_bytes(again).empty()) << "shapes are those of the values";
  const learn::Predicted found = predicted(*loaded, saved.made);
  EXPECT_GT(found.revenue(0, 2), 0.0f);
  const learn::Description description = loaded->describe({saved.made.arms, saved.made.features.columns});
  EXPECT_NE(description.json.find("\"boost\""), std::string::npos);
}

TEST(BoostFile, WhatDoesNotFitIsRefused) {
  const Saved saved;
  using Bytes = std::vector<std::uint8_t>;
  using Whole = std::vector<std::int64_t>;
  using Real = std::vector<float>;
  const std::vector<std::pair<std::string, std::function<void(io::TensorFile&)>>> wrongs = {
      {"a child before its parent", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[0] = 0; }},
      {"a child far away", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[3] = 255; }},
      {"a set that is not there", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[7] = 255; }},
      {"a feature that is not there", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[8] = 200; }},
      {"a node that is no leaf", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[9] = 255; }},
      {"missing values that go nowhere", [](auto& f) { values_of<Bytes>(f, "revenue.nodes")[11] = 2; }},
      {"too many nodes", [](auto& f) { values_of<Whole>(f, "revenue.trees")[0] = 1'000'000'000'000; }},
      {"nodes below nothing", [](auto& f) { values_of<Whole>(f, "revenue.trees")[0] = -1; }},
      {"more leaves than nodes", [](auto& f) { values_of<Whole>(f, "revenue.trees")[2] += 1; }},
      {"more trees than there are", [](auto& f) { values_of<Whole>(f, "cost.bags")[0] += 1; }},
      {"a value that is no number", [](auto& f) { values_of<Real>(f, "cost.values")[0] = std::nanf(""); }},
      {"a value beyond all numbers", [](auto& f) { values_of<Real>(f, "cost.values")[0] = 1e38f; }},
      {"a base that is no number", [](auto& f) { values_of<Real>(f, "cost.bases")[0] = std::nanf(""); }},
      {"bases of too few arms", [](auto& f) { values_of<Real>(f, "cost.bases").pop_back(); }},
      {"cuts that fall",
       [](auto& f) { std::swap(values_of<Real>(f, "bins.cuts")[0], values_of<Real>(f, "bins.cuts")[5]); }},
      {"levels in the bin of missing values", [](auto& f) { values_of<Bytes>(f, "bins.levels")[0] = 0; }},
      {"more cuts than there are", [](auto& f) { values_of<Whole>(f, "bins.sizes")[1] += 1; }},
      {"a share above 1", [](auto& f) { values_of<Real>(f, "importance")[0] = 2.0f; }},
      {"a scale of 0", [](auto& f) { values_of<std::vector<double>>(f, "scales")[1] = 0.0; }},
      {"a scale too few", [](auto& f) { values_of<std::vector<double>>(f, "scales").pop_back(); }},
      {"facts that are no JSON", [](auto& f) { f.metadata["facts"] = "{"; }},
      {"no bags", [](auto& f) { values_of<Whole>(f, "revenue.bags").clear(); }},
  };
  for (const auto& [name, spoil] : wrongs) {
    io::TensorFile file = saved.file;
    spoil(file);
    try {
      (void)saved.load(file);
      ADD_FAILURE() << name << " was accepted";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::file) << name;
    }
  }
}

// Any byte of the nodes changed: refused, or trees that run.
TEST(BoostFile, NoByteOfANodeLeadsAstray) {
  const Saved saved;
  const std::size_t size =
      values_of<std::vector<std::uint8_t>>(const_cast<io::TensorFile&>(saved.file), "revenue.nodes").size();
  std::size_t refused = 0;
  for (std::size_t place = 0; place < size; place += 7) {
    io::TensorFile file = saved.file;
    values_of<std::vector<std::uint8_t>>(file, "revenue.nodes")[place] ^= 0x15;
    try {
      const auto predictor = saved.load(file);
      (void)predicted(*predictor, saved.made, 1);
    } catch (const core::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace dfcl::boost
