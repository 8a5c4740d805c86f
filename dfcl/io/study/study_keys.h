// SPDX-License-Identifier: Apache-2.0
//
// The one table of the study file's keys: how each is read, written and documented. A new key is its field in
// data/study.h and one entry here. Internal to io.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/data/study.h"

namespace dfcl::io {

struct Key {
  std::string section;
  std::string name;
  std::string type;
  std::string fallback;  // as it would be written; "" : none
  std::string meaning;
  std::function<void(const toml::node&, const std::string&, data::Study&)> read;
  std::function<std::string(data::Study&)> write;  // the value as TOML

  std::string full_name() const { return section + "." + name; }
};

// Every key there is, in the order of docs/study.md.
const std::vector<Key>& all_keys();

// Adds the keys of [sweep]: for every key of [method] a list of values for it. They are in study_sweep.cpp.
void add_sweep_keys(std::vector<Key>& keys);

}  // namespace dfcl::io
