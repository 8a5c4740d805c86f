// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dfcl/data/study_key_entry.h"
#include "dfcl/data/study_keys.h"

namespace dfcl::data {
namespace {

void add_data(std::vector<StudyKey>& keys) {
  const auto field = [](auto& study) -> auto& { return study.format; };
  keys.push_back(make_key<std::int64_t>(
      "", "format",
      "The form of the file. Without it the file is one of version 0.1: its budgets include what control costs, and a "
      "control that costs something is refused.",
      field));
  Entry(keys.back()).between(2, 2);
  const SectionKeys data(keys, "data", &Study::data, false);
  using D = Study::Data;
  data("trial", &D::trial,
       "The trial: a csv, csv.gz, parquet or arrow file, a glob, or a folder of them. Relative to the study file.")
      .keyword("trial");
  data(
      "test", &D::test,
      "A separate trial to evaluate on, with the same columns and arms and other units. All rows of `trial` then train "
      "or validate.")
      .unset("the test rows of `trial`")
      .keyword("test");
}

void add_columns(std::vector<StudyKey>& keys) {
  const SectionKeys columns(keys, "columns", &Study::columns);
  using C = Study::Columns;
  columns("id", &C::id, "Names the unit.").unset("the row number, from 1").keyword("id");
  columns("arm", &C::arm, "The arm the unit got: text or number; surrounding blanks are ignored.").keyword("arm");
  columns("revenue", &C::revenue,
          "What the unit earned: a number, yes/no or true/false. Rows without one are left out and counted.")
      .keyword("revenue");
  columns("cost", &C::cost, "What the unit cost.")
      .unset("none: give `arms.cost` or `arms.cost_per_revenue`")
      .keyword("cost");
  columns("cost_if", &C::cost_if,
          "An outcome (redeemed: 0/1, yes/no, true/false) that must happen for the price in `arms.cost` to be paid.")
      .unset("the price is always paid")
      .keyword("cost_if");
  columns("time", &C::time, "The day or week of a row. A unit is then (id, time), and `split.by` may be \"time\".")
      .keyword("time");
  columns("features", &C::features, "Names or globs of the features; columns with another role never count.")
      .keyword("features");
  columns("exclude", &C::exclude,
          "Names or globs that are not features. Everything measured after the arm was drawn belongs here.")
      .keyword("exclude");
  columns("categorical", &C::categorical,
          "Names or globs of numeric columns that hold categories. Text columns are categorical anyway.")
      .keyword("categorical");
  columns("missing", &C::missing, "Numbers that mean missing in a feature, beside empty, null and NaN.")
      .keyword("missing");
  columns("cluster", &C::cluster, "Units that share this belong together: split, checked and resampled as one.")
      .unset("the id, where there is a time")
      .keyword("cluster");
  columns("propensity", &C::propensity, "The probability with which the unit got its arm.")
      .unset("the share of the arm")
      .keyword("propensity");
  columns(
      "weight", &C::weight,
      "Sample weight: how many units a row stands for, 0 or more. Only proportions count; rows of weight 0 are left "
      "out.")
      .unset("every row counts alike")
      .keyword("weight");
  columns(
      "guardrails", &C::guardrails,
      "Further outcomes that a plan must not raise (refunds, complaints): reported for every plan, never optimised. "
      "Not features.")
      .keyword("guardrails");
  columns("rule", &C::rule, "The arm that today's rule would give the unit: plans are compared with it. Not a feature.")
      .unset("no such baseline")
      .keyword("rule");
  columns("carry", &C::carry,
          "Columns of the units that predictions and plans carry as they are, feature or not; so are "
          "`report.segments`.")
      .trains_nothing();
  columns("winsorize", &C::winsorize,
          "Cuts `revenue` or `cost` at this quantile, for example { revenue = 0.999 }. Reported.")
      .one_of({"revenue", "cost"})
      .above_up_to(0.5, 1.0);
  columns("min_level_units", &C::min_level_units,
          "Levels of a category with fewer training units are pooled; so are levels unseen in training.")
      .at_least(0);
}

void add_arms(std::vector<StudyKey>& keys) {
  const SectionKeys arms(keys, "arms", &Study::arms);
  using A = Study::Arms;
  arms("control", &A::control, "The arm without an incentive.")
      .unset("the first of `order`, else an arm named 0, control or none")
      .flag("evaluate", "--control")
      .keyword("control");
  arms("order", &A::order,
       "All arms from the weakest to the strongest, where they are graded. Any other arm in the trial is an error.")
      .keyword("order");
  arms("share", &A::share, "The designed share of every arm. Without it the sample-ratio test is not run.")
      .above_up_to(0.0, 1.0)
      .keyword("share");
  arms("cost", &A::cost,
       "The known price per unit of every arm, where there is no cost column. It is a fact: never learned, never with "
       "an interval. Control is free where it has none.")
      .keyword("arm_cost");
  arms("cost_per_revenue", &A::cost_per_revenue,
       "The known rate of revenue that every arm costs, where there is no cost column. Control is free where it has "
       "none.")
      .keyword("cost_per_revenue");
  const SectionKeys cost(keys, "cost", &Study::cost);
  using F = Study::Cost;
  cost("control_is_free", &F::control_is_free,
       "Control costs nothing. Methods take this for granted, too, where each of 30 or more control units cost 0.");
  cost("non_negative", &F::non_negative, "No unit's cost is below zero.");
  cost("rises_with_arm", &F::rises_with_arm, "A stronger arm never costs less.");
}

void add_budgets(std::vector<StudyKey>& keys) {
  const SectionKeys budgets(keys, "budgets", &Study::budgets);
  using B = Study::Budgets;
  budgets("per_unit", &B::per_unit, "Budgets per unit: spend above what everyone would cost in control.")
      .keyword("per_unit");
  budgets("total", &B::total, "Budgets as totals over the units of the trial, likewise above control.")
      .keyword("budget");
  budgets("share_of_max", &B::share_of_max,
          "Budgets as shares of the extra cost of giving everyone the costliest arm, by the trial's means.")
      .between(0.0, 1.0)
      .keyword("share_of_max");
  budgets("include_control", &B::include_control,
          "Budgets cover all spending, what everyone would cost in control included.")
      .flag("train", "--include-control")
      .flag("compare", "--include-control")
      .flag("evaluate", "--include-control")
      .flag("power", "--include-control")
      .keyword("include_control");
  const SectionKeys value(keys, "value", &Study::value, false);
  using V = Study::Value;
  value(
      "margin", &V::margin,
      "Share of revenue that is profit before the incentive. With it, or with `per_revenue`, results show incremental "
      "profit and ROI.")
      .above_up_to(0.0, 1.0)
      .unset("profit is not shown")
      .flag("evaluate", "--margin")
      .flag("compare", "--margin")
      .keyword("margin");
  value("per_revenue", &V::per_revenue,
        "What one unit of revenue (an order, a visit) is worth in money; instead of `margin`.")
      .above(0.0)
      .unset("profit is not shown")
      .flag("evaluate", "--per-revenue")
      .flag("compare", "--per-revenue")
      .keyword("per_revenue");
  const SectionKeys split(keys, "split", &Study::split);
  using S = Study::Split;
  split("by", &S::by,
        "\"hash\" of the cluster or id; \"time\": earlier trains, later tests; or a column that says train, validation "
        "or test.")
      .keyword("split_by");
  split("train", &S::train, "The share of units (of times, by time) that train.").between(0.0, 1.0);
  split("validation", &S::validation, "The share that validates.").between(0.0, 1.0);
  split("test", &S::test, "The share that tests.").between(0.0, 1.0);
  split("seed", &S::seed, "Another number gives a different split by hash.");
  const SectionKeys evaluate(keys, "evaluate", &Study::evaluate, false);
  evaluate("estimator", &Study::Evaluate::estimator,
           "How revenue and cost of a plan are estimated. A different one on the command line marks the verdict as not "
           "pre-declared.")
      .one_of({"horvitz-thompson", "hajek", "stratified", "doubly-robust"})
      .keyword("estimator");
}

void add_method(std::vector<StudyKey>& keys) {
  const SectionKeys method(keys, "method", &Study::method);
  using M = Study::Method;
  method("name", &M::name, "The method to train; `dfcl train --help` lists them.")
      .flag("train", "--method")
      .keyword("method");
  method("epochs", &M::epochs, "Passes over the training units.")
      .between(1, 100'000)
      .unset("chosen from their number")
      .was(0)
      .flag("train", "--epochs");
  method("batch", &M::batch, "Units in a step.")
      .at_least(1)
      .unset("chosen from their number")
      .was(0)
      .flag("train", "--batch");
  method("learning_rate", &M::learning_rate, "Learning rate of Adam at the start.")
      .above_up_to(0.0, 1.0)
      .unset("chosen")
      .was(0)
      .flag("train", "--lr");
  method("weight_decay", &M::weight_decay, "Weight decay of AdamW.").between(0.0, 1.0).unset("chosen").was(-1);
  method("warm_epochs", &M::warm_epochs, "Epochs on the prediction loss alone, before the decision loss starts.")
      .between(0, 100'000)
      .unset("two thirds of them; none where training starts from a model")
      .was(-1)
      .needs(MethodTrait::decision)
      .flag("train", "--warm-epochs");
  method("alpha", &M::alpha, "Weight of the prediction loss beside a decision loss; 0: the decision loss alone.")
      .at_least(0.0)
      .unset("chosen")
      .was(-1)
      .needs(MethodTrait::decision)
      .flag("train", "--alpha");
  method("temperature", &M::temperature, "Temperature of the decision loss, in units of the spread of the scores.")
      .above(0.0)
      .unset("chosen")
      .was(0)
      .needs(MethodTrait::temperature);
  method("window", &M::window, "Window of the decision loss, in units of the spread of the scores.")
      .above(0.0)
      .unset("chosen")
      .was(0)
      .needs(MethodTrait::window);
  method("baseline", &M::baseline, "Control variate of the decision losses.")
      .one_of({"none", "mean", "dr"})
      .unset("chosen")
      .needs(MethodTrait::decision)
      .flag("train", "--baseline");
  method("multipliers", &M::multipliers,
         "Fixed multipliers to train on. Empty: those of the budgets, solved on predictions of the two-stage network.")
      .at_least(0.0)
      .needs(MethodTrait::decision);
  method("ensemble", &M::ensemble, "Networks trained from different seeds and averaged.")
      .between(1, 100)
      .needs(MethodTrait::members)
      .flag("train", "--ensemble");
  method("monotone", &M::monotone, "Outcomes whose predictions rise with the arm.")
      .one_of({"revenue", "cost"})
      .flag("train", "--monotone");
  method("concave", &M::concave, "Outcomes whose predictions are increasing and concave in the arm.")
      .one_of({"revenue", "cost"})
      .flag("train", "--concave");
  method("as_published", &M::as_published, "Train as the published paper did, without our corrections.")
      .flag("train", "--as-published");
  method("members", &M::members,
         "`auto`: the methods to stack; empty: tsm-boost, tsm-forest, tsm, dfcl-mer, dfcl-ifd. The mean effect of each "
         "arm "
         "is always one more.")
      .needs(MethodTrait::stack);
  method("calibrate", &M::calibrate,
         "Calibrate predictions on units that they were not fitted on. A single method without out-of-sample "
         "predictions of its own needs three further fits for this.")
      .unset(
          "true for `auto` and `tsm-forest`; by validation units for `tsm-boost`; false for others, and with "
          "`as_published`");
}

void add_boost(std::vector<StudyKey>& keys) {
  const SectionKeys boost(keys, "boost", &Study::boost);
  using B = Study::Boost;
  constexpr MethodTrait kBoost = MethodTrait::boost;
  boost("trees", &B::trees, "Boosted trees of an outcome, at most; held-out units say when to stop.")
      .between(1, 100'000)
      .needs(kBoost);
  boost("leaves", &B::leaves, "Leaves of a tree, at most.")
      .between(2, 255)
      .unset("8 below 100,000 training units, else 15")
      .needs(kBoost);
  boost("min_leaf", &B::min_leaf, "Average units in a leaf, at least; units that weigh less in the loss count less.")
      .at_least(1)
      .needs(kBoost);
  boost("learning_rate", &B::learning_rate, "Share of its step that each tree takes.")
      .above_up_to(0.0, 1.0)
      .needs(kBoost);
  boost("feature_share", &B::feature_share, "Share of the features that each tree sees.")
      .above_up_to(0.0, 1.0)
      .needs(kBoost);
  boost("row_share", &B::row_share, "Share of the training units that each tree sees.")
      .above_up_to(0.0, 1.0)
      .needs(kBoost);
  boost("bags", &B::bags, "Models of an outcome whose predictions are averaged.")
      .between(1, 100)
      .unset("8 below 50,000 training units, 4 below 100,000, else 2")
      .needs(kBoost);
}

void add_learners(std::vector<StudyKey>& keys) {
  const SectionKeys network(keys, "network", &Study::network);
  using N = Study::Network;
  network("kind", &N::kind,
          "table: numbers in bins, categories by level, members around shared layers, stopped on the validation loss. "
          "plain: the network of version 0.1, which `hidden`, `shared`, `heads` and `scaling` describe.")
      .one_of({"table", "plain"})
      .unset("table; plain with `as_published` or where a key of the plain network is given");
  network("members", &N::members, "Members of a network for tables, which share its layers and are averaged.")
      .between(1, kMostNetworkMembers)
      .unset("8; those of the model that training starts from");
  network("bins", &N::bins, "Bins of each number of a network for tables, at most.").between(1, kMostNumberBins);
  network("dropout", &N::dropout,
          "The share of hidden numbers that a training step of a network for tables leaves out.")
      .between(0.0, 0.9);
  network("patience", &N::patience,
          "A network for tables stops when the validation loss has not fallen for so many epochs, and keeps the best "
          "one. 0: it trains all epochs and keeps the last.")
      .between(0, 100'000);
  network("hidden", &N::hidden,
          "Layers of one trunk of a plain network. Empty: [64, 32, 32], unless `shared` is given.")
      .between(1, kMostLayerWidth);
  network("shared", &N::shared, "Layers that all heads share.").between(1, kMostLayerWidth);
  network("heads", &N::heads, "Layers of each head; there is one head for each arm and outcome.")
      .between(1, kMostLayerWidth);
  const std::vector<std::string> kinds = {"real", "non_negative", "binary"};
  network("revenue_kind", &N::revenue_kind, "What values revenue takes.").one_of(kinds).unset("chosen from the data");
  network("cost_kind", &N::cost_kind, "What values cost takes.").one_of(kinds).unset("chosen from the data");
  network("scaling", &N::scaling,
          "How numbers enter: standard (mean 0, deviation 1, heavy tails through a logarithm) or unit (0 to 1).")
      .one_of({"standard", "unit"})
      .unset("standard; unit with `as_published`");
  const SectionKeys forest(keys, "forest", &Study::forest);
  using F = Study::Forest;
  constexpr MethodTrait kForest = MethodTrait::forest;
  forest("trees", &F::trees, "Trees of a causal forest.").between(1, 100'000).needs(kForest).flag("train", "--trees");
  forest("leaf", &F::leaf, "Units in a leaf, at least: those that choose the splits and those that fill it.")
      .at_least(2)
      .needs(kForest)
      .flag("train", "--leaf");
  forest("min_leaf_per_arm", &F::min_leaf_per_arm, "Units of every arm in a leaf, at least.")
      .at_least(2)
      .needs(kForest);
  forest("depth", &F::depth, "Splits from the root to a leaf, at most.")
      .between(1, 1000)
      .needs(kForest)
      .flag("train", "--depth");
  forest("mtry", &F::mtry, "Features tried at each split.").at_least(1).unset("all").was(0).needs(kForest);
  forest("honest", &F::honest, "Some units of a tree choose its splits, the others fill its leaves; else all do both.")
      .needs(kForest);
  forest("subsample", &F::subsample, "Share of the training units that each tree sees.")
      .above_up_to(0.0, 0.5)
      .needs(kForest);
  add_boost(keys);
}

void add_report(std::vector<StudyKey>& keys) {
  const SectionKeys report(keys, "report", &Study::report, false);
  using R = Study::Report;
  report("title", &R::title, "Title of reports.").unset("the name of the trial");
  report("currency", &R::currency, "The currency in which money is shown, such as \"EUR\".").unset("plain numbers");
  report("revenue_name", &R::revenue_name, "What reports call the revenue.").unset("the name of its column");
  report("cost_name", &R::cost_name, "What reports call the cost.").unset("the name of its column, else \"cost\"");
  report("unit", &R::unit, "What a unit is called, in the singular: \"customer\", \"shop\".");
  report("decimal", &R::decimal, "The decimal sign of reports.");
  report("thousands", &R::thousands, "What stands between thousands in reports; may be empty.").may_be_empty();
  report("segments", &R::segments, "Columns of the trial by which effects and plans are shown.");
}

void add_deploy(std::vector<StudyKey>& keys) {
  const SectionKeys deploy(keys, "deploy", &Study::deploy, false);
  using D = Study::Deploy;
  deploy("methods", &D::methods, "`dfcl deploy`: the methods of the simulated online test, a group each.")
      .flag("deploy", "--methods");
  deploy("units", &D::units, "Simulated shops.").between(100, 100'000'000).flag("deploy", "--units");
  deploy("days", &D::days, "Days of the test.").between(1, 10'000).flag("deploy", "--days");
  deploy("response", &D::response, "Family of functions behind the effects.").one_of({"smooth", "tree", "sparse"});
  deploy("trial_units", &D::trial_units, "Shops of the random trial before the test, each day.")
      .between(100, 100'000'000);
  deploy("trial_days", &D::trial_days, "Days of that trial.").between(1, 10'000);
  deploy("explore", &D::explore, "Share of the shops that get a random arm each day of the test.").between(0.0, 0.5);
  deploy("retrain", &D::retrain, "Retrain the models each week, on all random data so far.")
      .flag("deploy", "--retrain");
  deploy("cost_drift", &D::cost_drift, "Costs rise evenly by this share until the last day; 0.2 is a fifth more.")
      .above_up_to(-0.9, 10.0)
      .flag("deploy", "--cost-drift");
  deploy("population_drift", &D::population_drift,
         "Shops become younger, keener on promotions and poorer, by this many standard deviations.")
      .between(-5.0, 5.0)
      .flag("deploy", "--population-drift");
  const SectionKeys compare(keys, "compare", &Study::compare, false);
  using C = Study::Compare;
  compare("methods", &C::methods, "`dfcl compare`: the methods to train, of which the first is the reference.")
      .flag("compare", "--methods");
  compare("seeds", &C::seeds, "Training runs per method, with consecutive seeds.")
      .between(1, 1000)
      .flag("compare", "--seeds");
}

// [sweep]: for every key of [method] a list of values for it.
StudyKey sweep_key(const StudyKey& of_method) {
  StudyKey key;
  key.section = "sweep";
  key.name = of_method.name;
  key.type = KeyType::texts;
  key.meaning = fmt::format("Values of `method.{}` to try, for the methods that use it.", of_method.name);
  key.trains = false;
  key.swept = &of_method;
  key.get = [name = key.name](const Study& study) -> std::optional<KeyValue> {
    const auto values = study.sweep.method.find(name);
    return values == study.sweep.method.end() ? std::vector<std::string>() : values->second;
  };
  key.set = [name = key.name](Study& study, std::optional<KeyValue> value) {
    study.sweep.method.erase(name);
    if (value) study.sweep.method[name] = std::get<std::vector<std::string>>(*std::move(value));
  };
  return key;
}

std::vector<StudyKey> make_table() {
  std::vector<StudyKey> keys;
  keys.reserve(200);  // keys of [sweep] point at others
  add_data(keys);
  add_columns(keys);
  add_arms(keys);
  add_budgets(keys);
  add_method(keys);
  add_learners(keys);
  add_report(keys);
  add_deploy(keys);
  const SectionKeys sweep(keys, "sweep", &Study::sweep, false);
  sweep("settings", &Study::Sweep::settings,
        "`dfcl compare`: other settings to try beside the study's, one at a time: \"section.key=value\", several with "
        "\"; \" between them, and \"name: \" before them if they should have one. A name that begins with a method is "
        "for that method alone: \"dfcl-pl rising: method.monotone=['revenue']\".");
  const std::size_t count = keys.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i].section == "method" && keys[i].name != "name") keys.push_back(sweep_key(keys[i]));
  }
  return keys;
}

}  // namespace

const std::vector<StudyKey>& study_keys() {
  static const std::vector<StudyKey> keys = make_table();
  return keys;
}

}  // namespace dfcl::data
