// SPDX-License-Identifier: Apache-2.0
//
// Where networks are trained: --device and --precision become what the context carries. Asks the driver once.
#pragma once

#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

// device: "auto" (a graphics card where this build and this machine have one), "cpu" or "cuda"; precision: "tf32",
// "fp32" or "bf16", of products on the card. Throws Error of kind usage for other words, and of kind unavailable where
// "cuda" was asked for and no card can be used. With "auto", a build for cards that finds none says so.
core::Device choose_device(const std::string& device, const std::string& precision, core::RunContext& context);

// "cpu", or "cuda, tf32": what of a device changes results.
std::string name_of(const core::Device& device);

// The same settings, with the card where the context has one: what changes the result is shown, and is part of the key
// of a checkpoint.
Settings with_device(Settings settings, const core::RunContext& context);

}  // namespace dfcl::train
