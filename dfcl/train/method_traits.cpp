// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/method_traits.h"

#include <algorithm>

#include "dfcl/core/field.h"

namespace dfcl::train {

bool has_trait(const Method& method, data::MethodTrait trait) {
  switch (trait) {
    case data::MethodTrait::any: return true;
    case data::MethodTrait::decision: return method.decides();
    case data::MethodTrait::temperature: return method.decides() && !method.has_window();
    case data::MethodTrait::window: return method.has_window();
    case data::MethodTrait::members: return method.uses("ensemble");
    case data::MethodTrait::forest: return method.uses("forest");
    case data::MethodTrait::boost: return method.uses("boost");
    case data::MethodTrait::stack: return false;  // only `auto`, which is in no row
  }
  return true;
}

std::string methods_with(std::string_view trait) {
  std::string text;
  for (const Method& method : all_methods()) {
    if (method.uses(trait)) text += (text.empty() ? "" : ", ") + core::field_name("method.name", method.name);
  }
  return text;
}

std::vector<std::string> idle_keys(const std::vector<std::string>& keys, const std::string& method) {
  std::vector<std::string> idle;
  if (method == "auto") return idle;
  for (const data::StudyKey& key : data::study_keys()) {
    const std::string name = key.full_name();
    if (std::find(keys.begin(), keys.end(), name) != keys.end() && !has_trait(find_method(method), key.trait))
      idle.push_back(name);
  }
  return idle;
}

}  // namespace dfcl::train
