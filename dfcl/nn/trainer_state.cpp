// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/trainer_state.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/learn/record_json.h"

namespace dfcl::nn {
namespace {

template <class T>
void put(io::TensorFile& file, const char* name, const std::vector<T>& values) {
  if (!values.empty()) file.tensors.push_back({name, {values.size()}, values});
}

template <class T>
std::vector<T> taken(const io::TensorFile& file, const char* name) {
  const io::Tensor* tensor = file.find(name);
  const auto* found = tensor == nullptr ? nullptr : std::get_if<std::vector<T>>(&tensor->values);
  return found == nullptr ? std::vector<T>() : *found;
}

}  // namespace

io::TensorFile state_file(const TrainerState& state) {
  io::TensorFile file;
  put(file, "parameters", state.parameters);
  put(file, "adam_mean", state.adam.mean);
  put(file, "adam_mean_square", state.adam.mean_square);
  if (state.best) put(file, "best", state.best->parameters);
  const std::string record = learn::record_list(state.record);
  put(file, "record", std::vector<std::uint8_t>(record.begin(), record.end()));
  std::vector<std::int64_t> counts = {static_cast<std::int64_t>(state.epochs_done),
                                      static_cast<std::int64_t>(state.adam.step)};
  if (state.best) counts.push_back(static_cast<std::int64_t>(state.best->epoch));
  put(file, "counts", counts);
  if (state.best) put(file, "best_loss", std::vector<double>{state.best->loss});
  return file;
}

TrainerState state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw core::Error({.kind = core::ErrorKind::file, .what = what, .where = where});
  };
  const auto counts = taken<std::int64_t>(file, "counts");
  const auto loss = taken<double>(file, "best_loss");
  require((counts.size() == 2 && loss.empty()) || (counts.size() == 3 && loss.size() == 1), "not a checkpoint");
  require(std::ranges::all_of(counts, [](std::int64_t count) { return count >= 0; }), "not a checkpoint");
  TrainerState state;
  state.epochs_done = static_cast<std::size_t>(counts[0]);
  state.adam.step = static_cast<std::uint64_t>(counts[1]);
  state.parameters = taken<float>(file, "parameters");
  state.adam.mean = taken<float>(file, "adam_mean");
  state.adam.mean_square = taken<float>(file, "adam_mean_square");
  if (counts.size() == 3) {
    require(counts[2] <= counts[0], "not a checkpoint");
    state.best = {static_cast<std::size_t>(counts[2]), taken<float>(file, "best"), loss.front()};
  }
  const auto record = taken<std::uint8_t>(file, "record");
  state.record = learn::parse_record({reinterpret_cast<const char*>(record.data()), record.size()}, where);
  bool fits = !state.best || state.best->parameters.size() == (state.best->epoch > 0 ? num_parameters : 0);
  for (const auto* part : {&state.parameters, &state.adam.mean, &state.adam.mean_square})
    fits = fits && part->size() == num_parameters;
  require(fits, "not a checkpoint of this network");
  return state;
}

}  // namespace dfcl::nn
