// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/learners.h"

#include "dfcl/boost/boost_predictor.h"
#include "dfcl/forest/forest_predictor.h"
#include "dfcl/learn/whole_predictor.h"
#include "dfcl/nn/network_predictor.h"
#include "dfcl/nn/table/table_predictor.h"

namespace dfcl::model {
namespace {

struct Entry {
  const char* kind;
  learn::LoadPredictor load;
};

constexpr Entry kLearners[] = {
    {"network", nn::load_network},   {"table network", nn::load_table_network},
    {"forest", forest::load_forest}, {"boost", boost::load_boost},
    {"whole", learn::load_whole},
};

}  // namespace

learn::LoadPredictor find_loader(const std::string& kind) {
  for (const Entry& entry : kLearners) {
    if (kind == entry.kind) return entry.load;
  }
  return nullptr;
}

}  // namespace dfcl::model
