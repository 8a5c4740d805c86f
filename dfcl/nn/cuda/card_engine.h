// SPDX-License-Identifier: Apache-2.0
//
// The engine of a fit, on a graphics card where the context asks for one. The card's order of an epoch is its own, so
// its numbers are not those of the processor; dropout is. Where the context allows it, a fit that does not go on the
// card (its loss, its size, the card's memory) goes on on the processor, from the state it has, and says so once.
// Rows that are too large for the card's memory are read from the machine's, which is said too. Memory:
// training_card.h.
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
                                      const OutcomeNetworkOptions& network, core::RunContext& context);
std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const TableEncoding& encoding,
                                      const TableOptions& table, double dropout, core::RunContext& context);

}  // namespace dfcl::nn::cuda
