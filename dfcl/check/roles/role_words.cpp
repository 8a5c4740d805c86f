// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/role_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace dfcl::check {
namespace {

struct WordList {
  std::vector<std::string_view> strong;  // 3 alone, 2 as a part of the name
  std::vector<std::string_view> weak;    // 2 alone, 1 as a part
};

const WordList& list_of(Word word) {
  static const WordList arm = {
      {"arm", "arms", "treatment", "treated", "treat", "variant", "discount", "offer", "coupon", "incentive",
       "promotion", "promo", "voucher", "match", "assigned", "assignment"},
      {"group", "segment", "campaign", "level", "condition", "cell", "test", "mailed", "mailing", "mail", "email",
       "sent", "contacted", "offered", "bucket", "ratio", "intervention", "version"}};
  static const WordList revenue = {
      {"revenue", "gmv", "sales", "sale", "orders", "order", "spend", "spent", "purchase", "purchases", "purchased",
       "conversion", "converted", "donation", "donated", "profit", "turnover", "bought", "voted"},
      {"amount", "value", "outcome", "response", "basket", "payment", "paid", "total", "y", "target"}};
  static const WordList cost = {{"cost", "costs", "subsidy", "subsidies", "expense", "expenses", "payout"},
                                {"price", "redeemed", "reward", "bonus", "commission"}};
  static const WordList attention = {
      {"visit", "visits", "visited", "click", "clicks", "clicked", "session", "sessions"},
      {"view", "views", "impression", "impressions", "opened", "open"}};
  static const WordList after = {
      {"exposure", "exposed", "response", "redeemed", "redemption", "opened", "clicked", "out", "outcome", "post",
       "after", "voted", "converted", "conversion"},
      {"click", "visit", "spend", "refund", "refunds", "returned", "churned", "unsubscribed"}};
  static const WordList outcome = {{"out", "outcome", "outcomes", "post"}, {"result"}};
  static const WordList before = {{"income", "age", "history", "historical", "previous", "prior", "past", "last",
                                   "before", "pre", "baseline", "lag", "birth", "yob", "tenure"},
                                  {"avg", "average", "mean", "median", "area", "share", "ago", "recent", "since"}};
  static const WordList id = {{"id", "uuid", "guid"},
                              {"unit", "client", "account", "customer", "user", "member", "key", "number", "index"}};
  static const WordList time = {{"day", "date", "week", "timestamp", "period"}, {}};
  static const WordList cluster = {{"household", "hh", "cluster", "family"},
                                   {"store", "shop", "village", "school", "site"}};
  static const WordList model = {{"prediction", "predictions", "predicted", "pred", "preds", "yhat", "uplift", "cate"},
                                 {"score", "scores"}};
  switch (word) {
    case Word::arm: return arm;
    case Word::revenue: return revenue;
    case Word::cost: return cost;
    case Word::attention: return attention;
    case Word::after: return after;
    case Word::outcome: return outcome;
    case Word::before: return before;
    case Word::id: return id;
    case Word::time: return time;
    case Word::cluster: return cluster;
    case Word::model: return model;
  }
  return arm;
}

bool holds(const std::vector<std::string_view>& words, const std::string& text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "amountgiven" begins with "amount".
bool begins_with_word(const WordList& list, const std::string& text) {
  constexpr std::size_t kShortest = 5;
  const auto begins = [&](std::string_view word) { return word.size() >= kShortest && text.starts_with(word); };
  return std::any_of(list.strong.begin(), list.strong.end(), begins) ||
         std::any_of(list.weak.begin(), list.weak.end(), begins);
}

// "orders_7d", "sales90d": a stretch of time before.
bool is_window(const std::string& name) {
  const std::string text = lower_case(name);
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool after_digit = std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    const bool ends = i + 1 == text.size() || text[i + 1] == '_' || text[i + 1] == ' ';
    if (after_digit && ends && (text[i] == 'd' || text[i] == 'w' || text[i] == 'm' || text[i] == 'y')) return true;
  }
  return false;
}

}  // namespace

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  std::string word;
  bool was_small = false;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_letter = std::isalpha(byte) != 0 || byte >= 0x80;
    if (!word.empty() && (!is_letter || (was_small && std::isupper(byte) != 0))) {
      words.push_back(lower_case(word));
      word.clear();
    }
    if (is_letter) word += letter;
    was_small = std::islower(byte) != 0;
  }
  if (!word.empty()) words.push_back(lower_case(word));
  return words;
}

int name_score(const std::string& name, Word word) {
  const WordList& list = list_of(word);
  if (word == Word::before && is_window(name)) return 3;
  const std::string whole = lower_case(name);
  if (holds(list.strong, whole)) return 3;
  if (holds(list.weak, whole)) return 2;
  int best = 0;
  for (const std::string& part : words_of(name)) {
    if (holds(list.strong, part)) best = std::max(best, 2);
    if (holds(list.weak, part) || begins_with_word(list, part)) best = std::max(best, 1);
  }
  return best;
}

int control_score(const std::string& label) {
  // Of a label as a whole, and of its first word too.
  static const std::vector<std::string_view> whole_labels = {"n", "off", "false", "nil", "bau",
                                                             "0", "0.0", "0%",    "0 %"};
  static const std::vector<std::string_view> first_words = {"control", "none",      "no",        "nothing", "placebo",
                                                            "holdout", "untreated", "not",       "without", "never",
                                                            "contrl",  "ctrl",      "unexposed", "baseline"};
  const std::string whole = lower_case(label);
  if (holds(whole_labels, whole)) return 2;
  const std::vector<std::string> words = words_of(label);
  if (words.empty()) return 0;
  if (holds(first_words, words.front())) return 2;
  for (const std::string& word : words) {
    if (word == "control" || word == "placebo" || word == "holdout") return 2;
  }
  return whole == "a" || whole == "usual" || whole == "standard" || whole == "default" ? 1 : 0;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string clean;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool starts_character = (byte & 0xC0) != 0x80;
    if (clean.size() >= kMost && starts_character) return clean + "...";
    clean += byte < 0x20 || byte == 0x7F ? '?' : letter;
  }
  return clean;
}

}  // namespace dfcl::check
