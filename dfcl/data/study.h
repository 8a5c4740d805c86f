// SPDX-License-Identifier: Apache-2.0
//
// A Study says what the columns of a trial mean, what is known about the arms and costs, which budgets matter and how
// the units are split. It is plain data: data/study_keys.h has the table of its keys, io/study/study_file.h reads it,
// docs/study.md describes every key. What a study may leave open is optional; an empty list names nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dfcl::data {

struct Study {
  // 2; or 1: a file of version 0.1, which had no such key and whose budgets include what control costs.
  std::int64_t format = 2;

  // Relative paths in the study are relative to this folder; "" is the working directory.
  std::string folder;
  std::string file;  // it was read from; "": it was made in memory

  struct Data {
    std::optional<std::string> trial;  // file, glob or folder; none: the caller has the data in memory
    std::optional<std::string> test;   // likewise, a trial to evaluate on; none: the test rows of the trial
  } data;

  struct Columns {
    std::optional<std::string> id;
    std::string arm;
    std::string revenue;
    std::optional<std::string> cost;
    std::optional<std::string> cost_if;  // an outcome that must happen for the price of arms.cost to be paid
    std::optional<std::string> time;
    std::vector<std::string> features = {"*"};
    std::vector<std::string> exclude;
    std::vector<std::string> categorical;
    std::vector<double> missing;
    std::optional<std::string> cluster;
    std::optional<std::string> propensity;
    std::optional<std::string> weight;        // sample weight: how many units a row stands for
    std::optional<std::string> rule;          // the arm that today's rule would give: a baseline
    std::vector<std::string> carry;           // travel from units through predictions into plans, as they are
    std::map<std::string, double> winsorize;  // revenue or cost -> quantile
    std::vector<std::string> guardrails;      // further outcomes that a plan must not raise; reported, never optimised
    std::int64_t min_level_units = 50;        // rarer levels of a category are pooled
  } columns;

  struct Arms {
    std::optional<std::string> control;  // none: the first of order, else "0", else an error
    std::vector<std::string> order;      // empty: the arms are not graded
    std::map<std::string, double> share;
    std::map<std::string, double> cost;  // price per unit
    std::map<std::string, double> cost_per_revenue;
  } arms;

  struct Cost {
    bool control_is_free = false;
    bool non_negative = false;
    bool rises_with_arm = false;
  } cost;

  struct Budgets {
    std::vector<double> per_unit;
    std::vector<double> total;
    std::vector<double> share_of_max;
    bool include_control = false;  // amounts include what everyone would cost in control
  } budgets;

  // What revenue is worth, in the currency of cost. At most one of them.
  struct Value {
    std::optional<double> margin;       // share of revenue that is profit before the incentive
    std::optional<double> per_revenue;  // worth of one unit of revenue: a visit, an order

    std::optional<double> of_revenue() const { return margin ? margin : per_revenue; }
  } value;

  struct Split {
    std::string by = "hash";  // hash, time, or the name of a column that says train, validation or test
    double train = 0.6;
    double validation = 0.1;
    double test = 0.3;
    std::int64_t seed = 0;
  } split;

  // What is declared before outcomes of test rows are looked at.
  struct Evaluate {
    std::string estimator = "doubly-robust";
  } evaluate;

  struct Method {
    std::string name = "auto";
    // None: chosen from the data and the method.
    std::optional<std::int64_t> epochs;
    std::optional<std::int64_t> batch;
    std::optional<double> learning_rate;
    std::optional<double> weight_decay;
    std::optional<std::int64_t> warm_epochs;
    std::optional<double> alpha;          // weight of the prediction loss beside a decision loss
    std::optional<double> temperature;    // MER: tau, in units of the spread of the scores
    std::optional<double> window;         // IFD: h, likewise
    std::optional<std::string> baseline;  // none, mean, dr
    std::vector<double> multipliers;      // fixed ones; empty: from the budgets
    std::int64_t ensemble = 1;
    std::vector<std::string> monotone;  // revenue, cost
    std::vector<std::string> concave;   // revenue
    bool as_published = false;
    std::vector<std::string> members;  // of the stack; empty: the usual ones
    std::optional<bool> calibrate;     // none: where it takes no fit more
  } method;

  struct Network {
    std::optional<std::string> kind;      // table, plain; none: table, unless what follows or as_published is plain's
    std::optional<std::int64_t> members;  // of a network for tables; none: 8, or those of the starting model
    std::int64_t bins = 32;               // of a number, at most
    double dropout = 0.1;                 // share of hidden numbers that a step leaves out
    std::int64_t patience = 6;            // epochs without a lower validation loss; 0: no stopping
    std::vector<std::int64_t> hidden;     // one trunk; empty: 64-32-32 unless shared is given
    std::vector<std::int64_t> shared;     // layers all heads share, and
    std::vector<std::int64_t> heads;      // the layers of each head: one head for each arm and outcome
    std::optional<std::string> revenue_kind;  // real, non_negative, binary; none: chosen from the data
    std::optional<std::string> cost_kind;
    std::optional<std::string> scaling;  // of numbers: standard, unit; none: standard, or unit as published
  } network;

  struct Forest {  // of tsm-forest; the defaults are the published setting
    std::int64_t trees = 256;
    std::int64_t leaf = 300;  // units in a leaf, those that split and those that fill it together
    std::int64_t min_leaf_per_arm = 20;
    std::int64_t depth = 24;
    std::optional<std::int64_t> mtry;  // features tried at a node; none: all
    bool honest = true;
    double subsample = 0.5;
  } forest;

  struct Boost {                         // boosted trees; section 8.3 of docs/method.md
    std::int64_t trees = 2000;           // of each outcome and bag, at most
    std::optional<std::int64_t> leaves;  // of a tree, at most; none: by the number of training units
    std::int64_t min_leaf = 100;         // units in a leaf, at least
    double learning_rate = 0.05;
    double feature_share = 0.7;        // for each tree
    double row_share = 0.8;            // for each tree
    std::optional<std::int64_t> bags;  // models that are averaged; none: by the number of training units
  } boost;

  // How reports speak of the figures.
  struct Report {
    std::optional<std::string> title;         // none: the name of the trial
    std::optional<std::string> currency;      // none: plain numbers
    std::optional<std::string> revenue_name;  // none: the name of the column, here and below
    std::optional<std::string> cost_name;
    std::string unit = "unit";  // what a unit is called: customer, shop
    std::string decimal = ".";
    std::string thousands = ",";
    std::vector<std::string> segments;  // columns by which effects and plans are shown
  } report;

  // The simulated online test of `dfcl deploy`.
  struct Deploy {
    std::vector<std::string> methods = {"tsm", "dpm", "dfcl-ifd"};
    std::int64_t units = 310'000;
    std::int64_t days = 28;
    std::string response = "smooth";
    std::int64_t trial_units = 20'000;
    std::int64_t trial_days = 14;
    double explore = 0.05;
    bool retrain = true;
    double cost_drift = 0.0;
    double population_drift = 0.0;
  } deploy;

  // What `dfcl compare` trains.
  struct Compare {
    std::vector<std::string> methods;  // the first is the reference
    std::int64_t seeds = 1;            // trainings of each
  } compare;

  // Alternatives to the study that `dfcl compare` tries beside it, one at a time.
  struct Sweep {
    std::map<std::string, std::vector<std::string>> method;  // key of [method] -> its values, as TOML
    std::vector<std::string> settings;                       // "name: section.key=value; section.key=value"
  } sweep;
};

}  // namespace dfcl::data
