// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/arm_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "dfcl/check/roles/role_words.h"

namespace dfcl::check {
namespace {

using data::SampledColumn;

constexpr std::size_t kMostArms = 20;
constexpr std::size_t kMostCandidates = 60;
constexpr std::size_t kRowsToChoose = 20'000;
constexpr std::size_t kFewestInArm = 10;     // in an arm
constexpr double kTied = 0.02;               // shares of variance at which two columns surely go together
constexpr double kLeastIndependence = 0.5;   // of a candidate whose name says nothing; outcomes are part of the rest
constexpr double kLeastIfNamed = 0.2;        // of one whose name says arm
constexpr double kSureLead = 0.75;           // over the next best candidate, for the choice to be sure
constexpr double kIndependenceWeight = 4.0;  // against names, which count 3 at most

// Rows spread evenly over the sample.
data::TableSample thinned(const data::TableSample& sample) {
  if (sample.num_rows <= kRowsToChoose) return sample;
  data::TableSample thin;
  thin.num_rows = kRowsToChoose;
  for (const SampledColumn& column : sample.columns) {
    SampledColumn& made = thin.columns.emplace_back();
    made.name = column.name;
    made.labels = column.labels;
    for (std::size_t i = 0; i < kRowsToChoose; ++i) {
      const std::size_t row = i * sample.num_rows / kRowsToChoose;
      if (!column.numbers.empty()) made.numbers.push_back(column.numbers[row]);
      if (!column.codes.empty()) made.codes.push_back(column.codes[row]);
    }
  }
  return thin;
}

bool can_be_arm(const SampledColumn& column) {
  if (column.codes.empty() || column.labels.size() < 2 || column.labels.size() > kMostArms) return false;
  std::vector<std::size_t> rows(column.labels.size());
  for (const std::uint32_t code : column.codes) {
    if (code == SampledColumn::kMissing) return false;
    ++rows[code];
  }
  return *std::min_element(rows.begin(), rows.end()) >= kFewestInArm;
}

// Each value of `finer` goes with one value of `coarser`.
bool determines(const SampledColumn& finer, const SampledColumn& coarser) {
  if (finer.labels.size() < coarser.labels.size()) return false;
  std::vector<std::uint32_t> image(finer.labels.size(), SampledColumn::kMissing);
  for (std::size_t row = 0; row < finer.codes.size(); ++row) {
    std::uint32_t& seen = image[finer.codes[row]];
    if (seen == SampledColumn::kMissing) seen = coarser.codes[row];
    if (seen != coarser.codes[row]) return false;
  }
  return true;
}

struct Candidate {
  std::size_t column = 0;
  double independence = 0.0;  // 1: goes together with no other column
  double score = 0.0;
  int name = 0;
};

double best_control_score(const SampledColumn& column) {
  int best = 0;
  for (const std::string& label : column.labels) best = std::max(best, control_score(label));
  // Every 0/1 column has a 0: it speaks less than a label that says "control".
  const bool is_plain = column.is_number();
  return best * (is_plain ? 0.25 : 0.75);
}

std::vector<Candidate> candidates_of(const data::TableSample& sample) {
  std::vector<Candidate> candidates;
  for (std::size_t column = 0; column < sample.columns.size(); ++column) {
    if (!can_be_arm(sample.columns[column])) continue;
    Candidate& made = candidates.emplace_back();
    made.column = column;
    made.name = name_score(sample.columns[column].name, Word::arm);
    if (name_score(sample.columns[column].name, Word::before) > 0) made.name = 0;
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.name > b.name; });
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
  return candidates;
}

// Columns that are another way to write the candidate, or a part of it, do not count against it.
void score(const data::TableSample& sample, Candidate& candidate) {
  const SampledColumn& own = sample.columns[candidate.column];
  ArmCodes codes{.arm = own.codes, .num_arms = own.labels.size(), .control = 0, .group = {}, .num_groups = 0};
  double tied = 0.0;
  double compared = 0.0;
  for (std::size_t other = 0; other < sample.columns.size(); ++other) {
    const SampledColumn& column = sample.columns[other];
    if (other == candidate.column || (!column.is_number() && column.labels.size() < 2)) continue;
    const bool same_draw = can_be_arm(column) && (determines(column, own) || determines(own, column) ||
                                                  name_score(column.name, Word::arm) > 1);
    if (same_draw) continue;
    compared += 1.0;
    tied += std::min(1.0, explained_share(column, codes) / kTied);
  }
  candidate.independence = compared > 0.0 ? 1.0 - tied / compared : 1.0;
  candidate.score = kIndependenceWeight * candidate.independence + candidate.name + best_control_score(own);
}

// A column that says more of the arms than the winner: "match_ratio" of "treatment".
const Candidate* finer_of(const data::TableSample& sample, const std::vector<Candidate>& candidates,
                          const Candidate& winner) {
  const Candidate* best = &winner;
  for (const Candidate& other : candidates) {
    const SampledColumn& column = sample.columns[other.column];
    const bool is_finer = column.labels.size() > sample.columns[best->column].labels.size() &&
                          determines(column, sample.columns[winner.column]);
    if (is_finer && other.name > 0 && other.independence > winner.independence - 0.1) best = &other;
  }
  return best;
}

double number(const std::string& text) {
  double value = NAN;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : NAN;
}

// The labels in their order, and the codes of the sample renumbered to it.
void set_labels(const SampledColumn& column, ArmChoice& choice) {
  std::vector<std::size_t> order(column.labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> rows(column.labels.size());
  for (const std::uint32_t code : column.codes) {
    if (code != SampledColumn::kMissing) ++rows[code];
  }
  const bool numbers = std::none_of(column.labels.begin(), column.labels.end(),
                                    [](const std::string& label) { return std::isnan(number(label)); });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (numbers) return number(column.labels[a]) < number(column.labels[b]);
    return rows[a] != rows[b] ? rows[a] > rows[b] : column.labels[a] < column.labels[b];
  });
  std::vector<std::uint32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    choice.labels.push_back(column.labels[order[i]]);
    place[order[i]] = static_cast<std::uint32_t>(i);
  }
  choice.is_graded = numbers && order.size() > 2;
  choice.codes.num_arms = order.size();
  for (const std::uint32_t code : column.codes)
    choice.codes.arm.push_back(code == SampledColumn::kMissing ? code : place[code]);
}

// The arm in which the most columns are zero throughout and vary elsewhere: what is given is not given there.
std::optional<std::size_t> arm_without_gifts(const data::TableSample& sample, ArmCodes codes, std::size_t own) {
  std::vector<std::size_t> votes(codes.num_arms);
  for (std::size_t column = 0; column < sample.columns.size(); ++column) {
    if (column == own || !sample.columns[column].is_number()) continue;
    for (codes.control = 0; codes.control < codes.num_arms; ++codes.control) {
      const ArmDifference difference = arm_difference(sample.columns[column], codes);
      if (difference.zero_in_control && difference.zero_by_chance < 1e-6) ++votes[codes.control];
    }
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  if (*most == 0 || std::count(votes.begin(), votes.end(), *most) > 1) return std::nullopt;
  return static_cast<std::size_t>(most - votes.begin());
}

void choose_control(const data::TableSample& sample, const std::optional<std::string>& hint, ArmChoice& choice) {
  std::optional<std::size_t> best;
  int most = 0;
  for (std::size_t arm = 0; arm < choice.labels.size(); ++arm) {
    const int score = control_score(choice.labels[arm]);
    if (score > most) best = arm, most = score;
  }
  choice.control_is_sure = most == 2;
  choice.control_reason =
      most == 2 ? "the arm that means nothing was given" : "its name may mean that nothing was given";
  if (hint) {
    const auto named = std::find(choice.labels.begin(), choice.labels.end(), *hint);
    if (named == choice.labels.end()) return;  // the caller sees that it is not there
    best = static_cast<std::size_t>(named - choice.labels.begin());
    choice.control_is_sure = true;
    choice.control_reason = "as you said";
  } else if (most < 2) {
    if (const auto found = arm_without_gifts(sample, choice.codes, *choice.column)) {
      best = found;
      choice.control_reason = "what other arms were given is zero here";
    } else if (choice.is_graded || (!best && !std::isnan(number(choice.labels.front())))) {
      best = 0;
      choice.control_reason = "the lowest number";
    }
  }
  if (!best) {
    choice.control_reason =
        fmt::format("name the arm that means nothing was given: {}", fmt::join(choice.labels, ", "));
    return;
  }
  choice.control = choice.labels[*best];
  choice.codes.control = *best;
}

}  // namespace

ArmChoice choose_arm(const data::TableSummary& summary, const data::TableSample& sample, const ArmHints& hints) {
  ArmChoice choice;
  const data::TableSample thin = thinned(sample);
  if (hints.arm) {
    const auto named = std::find_if(summary.columns.begin(), summary.columns.end(),
                                    [&](const auto& column) { return column.name == *hints.arm; });
    choice.column = static_cast<std::size_t>(named - summary.columns.begin());
    choice.is_sure = true;
    choice.reason = "as you said";
  } else {
    std::vector<Candidate> candidates = candidates_of(thin);
    for (Candidate& candidate : candidates) score(thin, candidate);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    std::erase_if(candidates, [](const Candidate& one) {
      return one.independence < (one.name > 0 ? kLeastIfNamed : kLeastIndependence);
    });
    if (candidates.empty()) {
      choice.reason = "not found: name the column that says which arm a unit got";
      return choice;
    }
    const Candidate* winner = finer_of(thin, candidates, candidates.front());
    const SampledColumn& column = thin.columns[winner->column];
    // The next best that is not the same arm written another way.
    double next = 0.0;
    for (const Candidate& other : candidates) {
      if (&other != winner && !determines(column, thin.columns[other.column])) next = std::max(next, other.score);
    }
    choice.column = winner->column;
    choice.is_sure = winner->name > 0 && std::max(winner->score, candidates.front().score) >= next + kSureLead;
    choice.reason = fmt::format("goes together with no column measured before ({:.0f} % independent){}",
                                100.0 * winner->independence, winner->name > 0 ? ", and its name says so" : "");
  }
  set_labels(sample.columns[*choice.column], choice);
  choose_control(thin, hints.control, choice);
  return choice;
}

}  // namespace dfcl::check
