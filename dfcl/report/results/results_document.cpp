// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_document.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/results/results_schema.h"
#include "dfcl/report/results/results_tables.h"

namespace dfcl::report {
namespace {

struct Word {
  const char* key;
  const char* text;
};

template <std::size_t N>
std::string word_for(const Word (&words)[N], const std::string& key, std::string otherwise) {
  for (const Word& word : words) {
    if (key == word.key) return word.text;
  }
  return otherwise;
}

constexpr Word kStatuses[] = {{"launch", "Launch"},
                              {"roll_out", "Roll out simply"},
                              {"pays_back", "Pays back"},
                              {"keep_rule", "Keep today's rule"},
                              {"harms", "Harms a guardrail"},
                              {"gain_shown", "Gain shown"},
                              {"not_shown", "Not shown"},
                              {"loses", "Do not launch"},
                              {"unfit", "Unfit"}};
constexpr Word kAnswers[] = {
    {"yes", "yes"}, {"no", "no"}, {"not_shown", "not shown"}, {"depends", "depends on what revenue is worth"}};

std::string kind_title(const std::string& name) {
  for (const ResultsKind& kind : results_kinds()) {
    if (kind.name == name) return kind.title;
  }
  return "Results";
}

// What has been launched already is not to be launched; the size of a trial has no verdict.
std::string status_word(const std::string& kind, const std::string& status) {
  if (kind == "power") return "";
  const bool is_launched = kind == "readout" || kind == "deployment";
  if (is_launched && status == "launch") return "Gain shown";
  if (is_launched && status == "loses") return "Loss shown";
  return word_for(kStatuses, status, status);
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

void add_answer(Document& document, const Json& results, const ResultsWords& words) {
  const std::string kind = kind_title(text_at(results, "kind"));
  const std::string title = text_at(at(results, "report"), "title");
  document.push_back(Heading{title.empty() ? kind : title, 1});
  const Json& verdict = at(results, "verdict");
  const std::string status = status_word(text_at(results, "kind"), text_at(verdict, "status"));
  const std::string sentence = text_at(verdict, "sentence");
  if (!status.empty()) document.push_back(Paragraph{status});
  if (!two_answers(verdict).empty()) document.push_back(Paragraph{two_answers(verdict)});
  if (!sentence.empty()) document.push_back(Paragraph{sentence});
  const std::vector<std::string> details = texts_of(at(verdict, "details"));
  if (!details.empty()) document.push_back(Bullets{details});

  Table facts{.title = "", .columns = {"what", "value"}, .num_text_columns = 2};
  const auto add = [&](std::string name, const std::string& value) {
    if (!value.empty()) facts.rows.push_back({std::move(name), value});
  };
  const Json& trial = at(results, "trial");
  add("split", text_at(trial, "split"));
  add("units", words.format.count(number_at(trial, "units")));
  add("clusters", words.format.count(number_at(trial, "clusters")));
  add("estimator", text_at(results, "estimator"));
  add("level of intervals", words.format.percent(number_at(results, "level"), 0));
  add("resamples", words.format.count(number_at(results, "resamples")));
  add(words.revenue + " of control, per unit",
      words.format.money(number_at(at(at(results, "control"), "revenue"), "value")));
  if (!facts.rows.empty()) document.push_back(facts);
}

void add_how(Document& document, const Json& results) {
  const std::vector<std::string> sentences = texts_of(at(results, "how"));
  Table made{.title = "What the results depend on", .columns = {"what", "value"}, .num_text_columns = 2};
  const auto add = [&](std::string name, const std::string& value) {
    if (!value.empty()) made.rows.push_back({std::move(name), value});
  };
  const Json& made_by = at(results, "made_by");
  add("dfcl version", text_at(made_by, "version"));
  add("made by", text_at(made_by, "verb").empty() ? "" : "dfcl " + text_at(made_by, "verb"));
  add("nuisance prediction", text_at(results, "nuisance"));
  add("intervals", text_at(results, "intervals"));
  for (const Json& option : at(made_by, "options")) {
    const std::vector<std::string> pair = texts_of(option);
    if (pair.size() == 2) add(pair[0], pair[1]);
  }
  for (const Json& model : at(results, "models")) add("method of " + model_name(model), text_at(model, "method"));
  if (sentences.empty() && made.rows.empty()) return;
  document.push_back(Heading{"How this was made"});
  if (!sentences.empty()) document.push_back(Bullets{sentences});
  if (!made.rows.empty()) document.push_back(made);
}

}  // namespace

std::string two_answers(const Json& verdict) {
  const std::string pays = text_at(verdict, "pays_back");
  const std::string beats = text_at(verdict, "beats_random");
  if (pays.empty()) return "";
  return fmt::format("Pays back: {}. Targeting beats random: {}.", word_for(kAnswers, pays, pays),
                     word_for(kAnswers, beats, beats));
}

Document answer_document(const Json& results) {
  const ResultsWords words(results);
  Document document;
  add_answer(document, results, words);
  add_values(document, results, words, "deployed");
  add_baselines(document, results, words);
  add_differences(document, results, words);
  document.push_back(
      Paragraph{"The charts and further tables of this page need scripts, which are switched off here."});
  return document;
}

Document screen_document(const Json& results) {
  const ResultsWords words(results, Room::screen);
  const auto of_control = [&](const char* key) {
    const core::Interval interval = interval_at(at(results, "control"), key);
    return words.format.interval(interval, decimals_of_intervals({interval}));
  };
  const Json& trial = at(results, "trial");
  const double resamples = number_at(results, "resamples");
  const std::string rows = fmt::format(
      "{} {} ({} split); {} estimator, nuisance: {}; {}", words.format.count(number_at(trial, "units")), words.units,
      text_at(trial, "split"), text_at(results, "estimator"), text_at(results, "nuisance"),
      resamples > 0.0 ? words.format.count(resamples) + " resamples" : text_at(results, "intervals") + " intervals");
  const std::string control = fmt::format("everyone in control: {} {}, {} {}", words.revenue, of_control("revenue"),
                                          words.cost, of_control("cost"));
  Document document = {Paragraph{text_at(at(results, "verdict"), "sentence")}};
  if (const std::string answers = two_answers(at(results, "verdict")); !answers.empty())
    document.push_back(Paragraph{answers});
  document.push_back(Bullets{{rows, control}});
  add_values(document, results, words, "deployed");
  add_baselines(document, results, words);
  add_values(document, results, words, "matched");
  add_differences(document, results, words);
  add_allocation(document, results, words);
  add_policy_trees(document, results, words);
  add_effects(document, results, words);
  add_uplift(document, results, words);
  add_ranking(document, results, words);
  add_fit(document, results, words);
  return document;
}

Document results_document(const Json& results) {
  const ResultsWords words(results);
  Document document;
  add_answer(document, results, words);
  const std::string kind = text_at(results, "kind");
  const bool free_first = !kind.empty() && kind != "evaluation";
  if (free_first) add_free_parts(document, results, words);
  add_values(document, results, words, "deployed");
  add_baselines(document, results, words);
  add_differences(document, results, words);
  add_values(document, results, words, "matched");
  add_curves(document, results, words);
  add_fit(document, results, words);
  add_calibration(document, results, words);
  add_allocation(document, results, words);
  add_policy_trees(document, results, words);
  add_effects(document, results, words);
  add_uplift(document, results, words);
  add_ranking(document, results, words);
  if (!free_first) add_free_parts(document, results, words);
  add_trial(document, results, words);
  add_how(document, results);
  return document;
}

}  // namespace dfcl::report
