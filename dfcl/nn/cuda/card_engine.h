// SPDX-License-Identifier: Apache-2.0
//
// The engine of a fit, on a graphics card where the context asks for one. The card's order of an epoch is its own, so
// its numbers are not those of the processor; dropout is. Where the context allows it, a fit that does not go on the
// card (its loss, its size, the card's memory) goes on on the processor, from the state it has, and says so once.
// Memory on the host while rows are loaded: those of a plain network's inputs; on the card: see engine.h, card_table.h.
#pragma once

#include <memory>

#include "dfcl/learn/objective.h"
#include "dfcl/nn/engine.h"
#include "dfcl/nn/inputs/preprocessing.h"
#include "dfcl/nn/outcome_network.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn::cuda {

// `host` is the engine of the same fit on the processor. All references must outlive the engine. Throws Error of kind
// unavailable where the fit must go on a card and cannot.
std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const Preprocessing& preprocessing,
                                      const OutcomeNetworkOptions& options, core::RunContext& context);
std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const TableEncoding& encoding,
                                      const TableOptions& options, double dropout, core::RunContext& context);

}  // namespace dfcl::nn::cuda
