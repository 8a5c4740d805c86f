// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/words.h"
#include "dfcl/evaluate/sums/judge_task.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/report/evaluation/evaluation_report.h"
#include "dfcl/report/launch/readout_report.h"
#include "dfcl/report/plan/plan_report.h"
#include "dfcl/verbs/check_elsewhere.h"
#include "dfcl/verbs/evaluate_elsewhere.h"
#include "dfcl/verbs/plan_elsewhere.h"
#include "dfcl/verbs/readout.h"
#include "dfcl/verbs/train_shards.h"
#include "fields.h"
#include "run.h"
#include "verbs.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace dfcl::python {
namespace {

std::string to_string(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::string pass_kind(const nb::bytes& pass) {
  using Kind = allocate::PathPass::Kind;
  switch (allocate::PathPass::from_bytes(to_string(pass)).kind()) {
    case Kind::sample: return "sample";
    case Kind::arm_spends: return "arm_spends";
    case Kind::build: return "build";
    case Kind::refine: return "refine";
    case Kind::collect: return "collect";
    case Kind::totals: return "totals";
  }
  return "";
}

using Cut = nb::typed<nb::tuple, nb::bytes, float>;
using Cuts = nb::typed<nb::list, Cut>;
using Runner = nb::typed<nb::callable, nb::bytes(nb::bytes)>;
using Roles = nb::typed<nb::callable, nb::bytes(Cuts)>;

std::vector<std::string> to_strings(nb::handle parts) {
  std::vector<std::string> all;
  for (nb::handle part : parts) all.push_back(to_string(nb::cast<nb::bytes>(part)));
  return all;
}

Cuts to_cuts(const std::vector<verbs::CutElsewhere>& cuts) {
  Cuts list;
  for (const verbs::CutElsewhere& one : cuts) list.append(nb::make_tuple(to_bytes(one.cut), one.multiplier));
  return list;
}

// Figures, and of each plan the cuts with their multipliers, one or one for each segment; of a curve, figures alone.
// runner(pass) returns the findings of all units, roles(cuts) the sums of their roles. segments: nothing, or labels and
// a function that returns what passes, one for each segment, find there.
nb::typed<nb::tuple, nb::typed<nb::list, Screens>, nb::typed<nb::list, Cuts>> allocate_elsewhere(
    verbs::AllocateRequest& request, const Runner& runner, const Roles& roles, const nb::tuple& segments,
    const RunOptions& options) {
  request.roles_elsewhere = [&](const std::vector<verbs::CutElsewhere>& cuts) {
    return to_string(nb::cast<nb::bytes>(roles(to_cuts(cuts))));
  };
  request.elsewhere = [&](const std::string& pass) { return to_string(nb::cast<nb::bytes>(runner(to_bytes(pass)))); };
  if (segments.size() > 0) {
    verbs::SegmentsElsewhere given;
    given.labels = nb::cast<std::vector<std::string>>(segments[0]);
    given.run = [&](const std::vector<std::string>& passes) {
      nb::list asked;
      for (const std::string& pass : passes) asked.append(to_bytes(pass));
      return to_strings(segments[1](asked));
    };
    request.segments_elsewhere = std::move(given);
  }
  // They look at this call's arguments, and the request may live longer.
  struct Forget {
    verbs::AllocateRequest& request;
    ~Forget() {
      request.elsewhere = nullptr, request.roles_elsewhere = nullptr;
      request.segments_elsewhere.reset();
    }
  } forget{request};
  verbs::AllocateResult result;
  run_with_gil(options, [&](core::RunContext& context) { result = verbs::allocate(request, context); });
  nb::list figures;
  nb::list cuts;
  if (result.curve) {
    figures.append(screens(report::curve_json(*result.curve, result.arms), [&](report::Length length) {
      return report::curve_text(*result.curve, result.arms, result.words, length);
    }));
  }
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    figures.append(screens(report::plans_json({result.plans[i]}),
                           [&](report::Length length) { return report::plans_text({result.plans[i]}, length); }));
    cuts.append(to_cuts(result.cuts[i]));
  }
  return nb::make_tuple(figures, cuts);
}

ModelHandle handle_of(model::Model model) { return {std::make_shared<const model::Model>(std::move(model))}; }

void bind_shards(nb::module_& module) {
  using Request = verbs::TrainRequest;
  module.def("shard_features", [](const Request& request, const RunOptions& options) {
    return run(options, [&](core::RunContext& context) { return verbs::shard_features(request, context); });
  });
  module.def("train_shard", [](const Request& request, const std::string& features, const RunOptions& options) {
    return run(options,
               [&](core::RunContext& context) { return handle_of(verbs::train_shard(request, features, context)); });
  });
  module.def("stack_shards",
             [](const Request& request, const nb::typed<nb::list, ModelHandle>& shards, const RunOptions& options) {
               std::vector<model::Model> models;
               for (nb::handle shard : shards) models.push_back(*nb::cast<const ModelHandle&>(shard).model);
               return run(options, [&](core::RunContext& context) {
                 return handle_of(verbs::stack_shards(request, models, context));
               });
             });
}

// judge(arms, nuisance or None) returns the facts of all parts; runner(task) the findings of all blocks.
nb::tuple evaluate_elsewhere(const verbs::EvaluateRequest& request, const nb::callable& judge,
                             const nb::callable& runner, const RunOptions& options) {
  verbs::RowsElsewhere rows;
  rows.judge = [&](const std::string& arms, const std::shared_ptr<const model::Model>& nuisance) {
    const nb::object given = nuisance == nullptr ? nb::none() : nb::cast(ModelHandle{nuisance});
    return to_strings(judge(arms, given));
  };
  rows.run = [&](const std::string& task) { return to_string(nb::cast<nb::bytes>(runner(to_bytes(task)))); };
  std::optional<verbs::EvaluateResult> result;
  run_with_gil(options, [&](core::RunContext& context) { result = verbs::evaluate_elsewhere(request, rows, context); });
  return screens(report::evaluation_json(result->report),
                 [&](report::Length length) { return report::evaluation_text(result->report, length); });
}

void bind_judging(nb::module_& module) {
  using Part = evaluate::JudgePart;
  module.def(
      "judge_part",
      [](const verbs::EvaluateRequest& request, const std::string& arms, const RunOptions& options) {
        const verbs::JudgedPart part =
            run(options, [&](core::RunContext& context) { return verbs::judge_part(request, arms, context); });
        return nb::make_tuple(to_bytes(part.block), to_bytes(part.facts));
      },
      nb::sig("def judge_part(arg0: EvaluateRequest, arg1: str, arg2: Run, /) -> tuple[bytes, bytes]"));
  nb::class_<Part>(module, "JudgePart")
      .def("__init__",
           [](Part* self, const nb::bytes& task) { new (self) Part(evaluate::JudgeTask::from_bytes(to_string(task))); })
      .def("add",
           [](Part& self, const nb::bytes& block, const RunOptions& options) {
             const std::string bytes = to_string(block);
             run_without_gil(options, [&](core::RunContext& context) {
               self.add(evaluate::JudgedBlock::from_bytes(bytes), context);
             });
           })
      .def("merge", [](Part& self, const nb::bytes& found) { self.merge_bytes(to_string(found)); })
      .def("to_bytes", [](Part& self) { return to_bytes(self.to_bytes()); });
  module.def("task_kind", [](const nb::bytes& task) {
    return std::string(evaluate::JudgeTask::from_bytes(to_string(task)).kind());
  });
  module.def("evaluate_elsewhere", &evaluate_elsewhere,
             nb::sig("def evaluate_elsewhere(arg0: EvaluateRequest, arg1: Callable[[str, Model | None], list[bytes]], "
                     "arg2: Callable[[bytes], bytes], arg3: Run, /) -> tuple[str, str, str]"));
}

// runner(totals) returns the sums of all parts, or, with totals, the products around their means.
nb::tuple readout_elsewhere(const verbs::ReadoutRequest& request, const nb::callable& runner,
                            const RunOptions& options) {
  const auto run_pass = [&](const std::string& totals) {
    return to_string(nb::cast<nb::bytes>(runner(to_bytes(totals))));
  };
  std::optional<verbs::ReadoutResult> result;
  run_with_gil(options,
               [&](core::RunContext& context) { result = verbs::read_out_elsewhere(request, run_pass, context); });
  return screens(report::readout_json(result->readout, result->provenance),
                 [&](report::Length length) { return report::readout_text(result->readout, length); });
}

void bind_launches(nb::module_& module) {
  module.def(
      "sum_launch_part", [](const verbs::ReadoutRequest& request, const nb::bytes& totals, const RunOptions& options) {
        const std::string given = to_string(totals);
        return to_bytes(
            run(options, [&](core::RunContext& context) { return verbs::sum_launch_part(request, given, context); }));
      });
  module.def(
      "merge_launch_parts",
      [](const nb::bytes& totals, const nb::list& parts) {
        return to_bytes(verbs::merge_launch_parts(to_string(totals), to_strings(parts)));
      },
      nb::sig("def merge_launch_parts(arg0: bytes, arg1: list[bytes], /) -> bytes"));
  module.def("readout_elsewhere", &readout_elsewhere,
             nb::sig("def readout_elsewhere(arg0: ReadoutRequest, arg1: Callable[[bytes], bytes], arg2: Run, /) -> "
                     "tuple[str, str, str]"));
}

// asked: arms, features and task, as the runner is handed them. duplicates: ids that come again, rows beyond the first
// of theirs, ids in two arms, and examples.
nb::tuple check_elsewhere(const verbs::CheckRequest& request, std::size_t num_units, const nb::tuple& duplicates,
                          const nb::callable& runner, const RunOptions& options) {
  verbs::CheckedElsewhere rows;
  rows.num_units = num_units;
  rows.duplicates = {"id", nb::cast<std::size_t>(duplicates[0]), nb::cast<std::size_t>(duplicates[1]),
                     nb::cast<std::size_t>(duplicates[2]), nb::cast<std::vector<std::string>>(duplicates[3])};
  rows.run = [&](const verbs::CheckAsked& asked) {
    return to_string(nb::cast<nb::bytes>(runner(nb::make_tuple(asked.arms, asked.features, to_bytes(asked.task)))));
  };
  check::CheckResult result;
  run_with_gil(options, [&](core::RunContext& context) { result = verbs::check_elsewhere(request, rows, context); });
  return screens(report::check_json(result), [&](report::Length length) { return report::check_text(result, length); });
}

void bind_checks(nb::module_& module) {
  module.def(
      "check_part",
      [](const verbs::CheckRequest& request, const nb::tuple& asked, const RunOptions& options) {
        const verbs::CheckAsked given{nb::cast<std::string>(asked[0]), nb::cast<std::string>(asked[1]),
                                      to_string(nb::cast<nb::bytes>(asked[2]))};
        return to_bytes(
            run(options, [&](core::RunContext& context) { return verbs::check_part(request, given, context); }));
      },
      nb::sig("def check_part(arg0: CheckRequest, arg1: tuple[str, str, bytes], arg2: Run, /) -> bytes"));
  module.def(
      "merge_check_parts",
      [](const nb::bytes& task, const nb::list& parts) {
        return to_bytes(verbs::merge_check_parts(to_string(task), to_strings(parts)));
      },
      nb::sig("def merge_check_parts(arg0: bytes, arg1: list[bytes], /) -> bytes"));
  module.def("check_elsewhere", &check_elsewhere,
             nb::sig("def check_elsewhere(arg0: CheckRequest, arg1: int, arg2: tuple[int, int, int, list[str]], "
                     "arg3: Callable[[tuple[str, str, bytes]], bytes], arg4: Run, /) -> tuple[str, str, str]"));
}

}  // namespace

void bind_parts(nb::module_& module) {
  nb::class_<verbs::PlanPart>(module, "PlanPart")
      .def("__init__", [](verbs::PlanPart* self, const verbs::AllocateRequest& request,
                          const nb::bytes& pass) { new (self) verbs::PlanPart(request, to_string(pass)); })
      .def("add",
           [](verbs::PlanPart& self, const std::string& predictions, const RunOptions& options) {
             run_without_gil(options, [&](core::RunContext& context) { self.add(predictions, context); });
           })
      .def("to_bytes", [](verbs::PlanPart& self) { return to_bytes(self.to_bytes()); });
  module.def(
      "merge_parts",
      [](const nb::bytes& pass, const nb::typed<nb::list, nb::bytes>& parts, std::size_t num_arms) {
        return to_bytes(verbs::merge_parts(to_string(pass), to_strings(parts), num_arms));
      },
      "pass_bytes"_a, "parts"_a, "num_arms"_a);
  module.def("assign_part", [](const verbs::AllocateRequest& request, const nb::bytes& cut, double multiplier,
                               const RunOptions& options) {
    const std::string bytes = to_string(cut);
    return run(options,
               [&](core::RunContext& context) { return verbs::assign_part(request, bytes, multiplier, context); });
  });
  module.def("sum_roles", [](const verbs::KeptPlan& plan) { return to_bytes(verbs::sum_roles(plan)); });
  module.def("merge_roles", [](const nb::typed<nb::list, nb::bytes>& parts) {
    return to_bytes(verbs::merge_roles(to_strings(parts)));
  });
  module.def("pass_kind", &pass_kind, "pass_bytes"_a);
  module.def(
      "allocate_elsewhere", &allocate_elsewhere,
      nb::sig(
          "def allocate_elsewhere(arg0: AllocateRequest, arg1: collections.abc.Callable[[bytes], bytes], "
          "arg2: collections.abc.Callable[[list[tuple[bytes, float]]], bytes], "
          "arg3: tuple[()] | tuple[list[str], collections.abc.Callable[[list[bytes]], list[bytes]]], arg4: Run, /) -> "
          "tuple[list[tuple[str, str, str]], list[list[tuple[bytes, float]]]]"));
  bind_shards(module);
  bind_judging(module);
  bind_launches(module);
  bind_checks(module);
}

}  // namespace dfcl::python
