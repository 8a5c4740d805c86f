// SPDX-License-Identifier: Apache-2.0
//
// The cards of a build without CUDA: they say so.
#ifndef DFCL_WITH_CUDA
#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/training_card.h"

namespace dfcl::nn::cuda {
namespace {

[[noreturn]] void refuse() {
  require_card();
  throw core::Error({.what = "a graphics card in a build without support for one"});
}

}  // namespace

std::unique_ptr<TrainingCard> make_card(const CardNetworkOptions&, FillInputs<float>) { refuse(); }
std::unique_ptr<TrainingCard> make_card(const CardTableOptions&, const TableEncoding&, core::MatrixView<const float>) {
  refuse();
}

}  // namespace dfcl::nn::cuda
#endif
