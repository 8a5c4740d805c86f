// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/study_text.h"

#include <fmt/format.h>

#include <vector>

namespace dfcl::simulate {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (static_cast<unsigned char>(letter) < 0x20) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(letter));
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::string columns_section(const Simulator& simulator) {
  const UnitModel::Roles& roles = simulator.roles();
  const bool marketing = simulator.options().preset == Preset::marketing;
  std::string text = "[columns]\n";
  if (!roles.id.empty()) text += fmt::format("id = {}\n", quoted(roles.id));
  text += fmt::format("arm = {}{}\n", quoted(roles.arm), marketing ? "            # discount in per cent" : "");
  text += fmt::format("revenue = {}\n", quoted(roles.revenue));
  text += fmt::format("cost = {}\n", quoted(roles.cost));
  if (simulator.options().num_days > 0) text += "time = \"day\"               # a unit is a shop on a day\n";
  return text + "features = [\"*\"]           # every column with no other role\n\n";
}

std::string arms_section(const Simulator& simulator) {
  std::vector<std::string> labels;
  std::vector<std::string> shares;
  for (std::size_t arm = 0; arm < simulator.arms().size(); ++arm) {
    labels.push_back(quoted(simulator.arms()[arm]));
    shares.push_back(fmt::format("{} = {}", labels.back(), simulator.shares()[arm]));
  }
  std::string text = fmt::format("[arms]\ncontrol = {}\n", labels.front());
  if (simulator.roles().graded_arms) {
    text += fmt::format("order = [{}]   # graded, from control up\n", fmt::join(labels, ", "));
  }
  return text + fmt::format("share = {{ {} }}   # as designed; check compares\n\n", fmt::join(shares, ", "));
}

}  // namespace

std::string study_text(const Simulator& simulator, const std::string& trial_path) {
  const SimulatorOptions& options = simulator.options();
  const UnitModel::Roles& roles = simulator.roles();
  std::string text =
      fmt::format("format = 2\n# A simulated trial: preset {}, response {}, {} rows, seed {}.\n",
                  core::to_word(options.preset), core::to_word(options.response), options.num_rows, options.seed);
  text += fmt::format("\n[data]\ntrial = {}\n\n", quoted(trial_path));
  text += columns_section(simulator);
  text += arms_section(simulator);
  if (roles.control_is_free) {
    text += "[cost]                     # what is known about cost\n";
    text += "control_is_free = true\nnon_negative = true\n";
    text += roles.graded_arms ? "rises_with_arm = true\n\n" : "\n";
    text += "[budgets]                  # of what the costliest arm costs above control, by the trial's means\n";
    text += "share_of_max = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6]\n\n";
  } else {
    text += "[cost]                     # what is known about cost; control costs visits too\n";
    text += "non_negative = true\n\n";
    text += "[budgets]                  # of what treating everyone costs above control, by the trial's means\n";
    text += "share_of_max = [0.1, 0.25, 0.45, 0.65, 0.8, 0.95]\n\n";
  }
  if (options.num_days > 1) {
    text += "[split]\nby = \"time\"                # the first half of the days trains, the second tests\n";
    text += "train = 0.5\nvalidation = 0.0\ntest = 0.5\n";
  } else {
    text += "[split]\nby = \"hash\"                # of the id, or of the row number where there is none\n";
    text += "train = 0.6\nvalidation = 0.1\ntest = 0.3\n";
  }
  return text;
}

}  // namespace dfcl::simulate
