// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/machine_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dfcl/report/text/document.h"

namespace dfcl::report {
namespace {

std::string kernels_text(core::Processor kernels) {
  switch (kernels) {
    case core::Processor::avx512: return "AVX-512";
    case core::Processor::avx2: return "AVX2 and FMA";
    case core::Processor::portable: break;
  }
  return "portable";
}

std::string rate_text(double rate) { return fmt::format("{:.{}f}", rate, rate < 10.0 ? 1 : 0); }

}  // namespace

std::string machine_text(const train::Machine& machine, Length length) {
  Facts facts;
  const auto add = [&](std::string name, std::string value, std::string remark = "") {
    facts.rows.push_back({std::move(name), std::move(value), std::move(remark)});
  };
  add("processors", fmt::format("{}", machine.processors), machine.processor);
  add("threads", fmt::format("{}", machine.threads), "that dfcl uses");
  if (machine.memory > 0) add("memory", fmt::format("{:.0f} GB", static_cast<double>(machine.memory) / 1e9));
  add("kernels", kernels_text(machine.kernels),
      "of matrix products; the environment variable DFCL_PROCESSOR lowers it");
  add("graphics card", machine.card.empty() ? "none" : machine.card, machine.why_no_card);
  const auto add_rates = [&](const char* name, const train::Rates& rates, const char* unit, const char* what) {
    add(name, fmt::format("{} {}", rate_text(rates.all_threads), unit),
        fmt::format("{}, on all threads; {} on one", what, rate_text(rates.one_thread)));
  };
  add_rates("products", machine.products, "GFLOP/s", "matrix products of a training step");
  add_rates("reading", machine.reading, "GB/s", "from memory");
  const Document document = {facts};
  return length == Length::brief ? screen_text(document) : document_text(document);
}

std::string machine_json(const train::Machine& machine) {
  const auto rates = [](const train::Rates& given) {
    return nlohmann::ordered_json{{"one_thread", given.one_thread}, {"all_threads", given.all_threads}};
  };
  const nlohmann::ordered_json json = {{"processor", machine.processor},
                                       {"processors", machine.processors},
                                       {"threads", machine.threads},
                                       {"memory_bytes", machine.memory},
                                       {"kernels", core::processor_name(machine.kernels)},
                                       {"card", machine.card},
                                       {"products_gflops", rates(machine.products)},
                                       {"reading_gb_per_second", rates(machine.reading)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report
