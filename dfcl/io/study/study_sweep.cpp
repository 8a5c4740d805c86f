// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/study/study_keys.h"

namespace dfcl::io {
namespace {

using data::Study;

std::string list_of(const std::string& type) {
  if (type.starts_with("list of ")) return "list of lists of " + type.substr(8);
  return type == "true/false" ? "list of true/false" : "list of " + type + "s";
}

// Every value is read as the key itself would be, so a wrong one is found at once.
Key sweep_key(const Key& of_method) {
  const auto read = [of_method](const toml::node& node, const std::string& where, Study& study) {
    const auto* list = node.as_array();
    if (list == nullptr || list->empty()) {
      throw core::usage_error(where, "not a list of values", "",
                              fmt::format("values of {} in square brackets", of_method.full_name()));
    }
    std::vector<std::string>& values = study.sweep.method[of_method.name];
    values.clear();
    for (const toml::node& element : *list) {
      Study scratch;
      of_method.read(element, where, scratch);
      values.push_back(of_method.write(scratch));
    }
  };
  const auto write = [name = of_method.name](Study& study) {
    const auto values = study.sweep.method.find(name);
    if (values == study.sweep.method.end()) return std::string("[]");
    return fmt::format("[{}]", fmt::join(values->second, ", "));
  };
  return {"sweep",
          of_method.name,
          list_of(of_method.type),
          "[]",
          fmt::format("Values of `method.{}` to try, for the methods that use it.", of_method.name),
          read,
          write};
}

}  // namespace

void add_sweep_keys(std::vector<Key>& keys) {
  std::vector<Key> sweeps;
  for (const Key& key : keys) {
    if (key.section == "method" && key.name != "name") sweeps.push_back(sweep_key(key));
  }
  keys.insert(keys.end(), sweeps.begin(), sweeps.end());
}

}  // namespace dfcl::io
