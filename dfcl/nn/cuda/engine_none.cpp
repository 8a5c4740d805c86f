// SPDX-License-Identifier: Apache-2.0
//
// The engines of a build without CUDA: they say so.
#ifndef DFCL_WITH_CUDA
#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/card_table.h"

namespace dfcl::nn::cuda {

class Engine::Card {};
class CardTable::Card {};

namespace {

[[noreturn]] void refuse() {
  require_card();
  throw core::Error({.what = "a graphics card in a build without support for one"});
}

}  // namespace

Engine::Engine(const EngineOptions&) { refuse(); }
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
void Engine::load(core::MatrixView<const float>, const TrainingRows&) { refuse(); }
void Engine::load_validation(core::MatrixView<const float>, const TrainingRows&) { refuse(); }
void Engine::set_adam(const AdamOptions&) { refuse(); }
void Engine::set_state(const EngineState&) { refuse(); }
EngineState Engine::state() const { refuse(); }
std::vector<float> Engine::gradient() const { refuse(); }
EpochResult Engine::run_epoch(std::uint64_t, std::uint64_t) { refuse(); }
EpochResult Engine::run_epoch(std::span<const std::uint32_t>) { refuse(); }
MeanLosses Engine::validate(core::MatrixView<float>, core::MatrixView<float>) { refuse(); }
std::size_t Engine::tile_rows() const { refuse(); }
std::size_t Engine::num_blocks() const { refuse(); }

CardTable::CardTable(const TableEncoding&, const CardTableOptions&) { refuse(); }
CardTable::~CardTable() = default;
CardTable::CardTable(CardTable&&) noexcept = default;
CardTable& CardTable::operator=(CardTable&&) noexcept = default;
void CardTable::load(core::MatrixView<const float>, const TrainingRows&, std::span<const std::uint32_t>,
                     core::RunContext&) {
  refuse();
}
void CardTable::load_validation(core::MatrixView<const float>, const TrainingRows&, std::span<const std::uint32_t>,
                                core::RunContext&) {
  refuse();
}
void CardTable::set_adam(const AdamOptions&) { refuse(); }
void CardTable::set_state(const EngineState&) { refuse(); }
EngineState CardTable::state() const { refuse(); }
std::vector<float> CardTable::gradient() const { refuse(); }
EpochResult CardTable::run_epoch(std::uint64_t, std::uint64_t) { refuse(); }
EpochResult CardTable::run_epoch(std::span<const std::uint32_t>, std::uint64_t, std::uint64_t) { refuse(); }
void CardTable::predict(core::MatrixView<float>, core::MatrixView<float>) { refuse(); }

}  // namespace dfcl::nn::cuda
#endif
