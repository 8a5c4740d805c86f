// SPDX-License-Identifier: Apache-2.0
//
// The matrix products of a training step on one thread, GFLOP/s: our kernels, each kind that this processor knows,
// beside OpenBLAS where the system has it (libopenblas.so.0, loaded when the program runs; OPENBLAS_CORETYPE chooses
// its kernels). Interleaved, best of many rounds by processor time. Usage: bench_products [SECONDS]. A line of JSON for
// each product.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "dfcl/nn/gemm.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;
using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);
constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;

constexpr std::size_t kTile = 256;  // rows of a tile

// OpenBLAS on one thread, or null.
Sgemm find_openblas() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) return nullptr;
  if (auto* set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))) set_threads(1);
  return reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
}

struct Product {
  std::string name;
  std::size_t rows, cols, inner;
  bool a_transposed, b_transposed, add;
  std::size_t a_stride, b_stride;
};

// Of a layer: forward, gradient of the weights, gradient of the inputs.
void add_layer(std::vector<Product>& list, std::size_t outputs, std::size_t inputs, bool first) {
  const std::string layer = fmt::format("{} -> {}", inputs, outputs);
  list.push_back({"forward " + layer, outputs, kTile, inputs, false, first, false, inputs, first ? inputs : kTile});
  list.push_back({"weights " + layer, outputs, inputs, kTile, false, !first, true, kTile, first ? inputs : kTile});
  if (first) return;
  list.push_back({"inputs " + layer, inputs, kTile, outputs, true, false, false, inputs, kTile});
}

struct Contestant {
  std::string name;
  nn::ProductKernel<float> kernel{};
  Sgemm openblas = nullptr;
  double best = 0.0;  // GFLOP/s

  void run(const Product& p, const float* a, const float* b, float* c) const {
    if (openblas == nullptr) {
      kernel.multiply(p.rows, p.cols, p.inner, {a, p.a_stride, p.a_transposed}, {b, p.b_stride, p.b_transposed}, p.add,
                      c, p.cols);
      return;
    }
    const auto size = [](std::size_t n) { return static_cast<int>(n); };
    openblas(kRowMajor, p.a_transposed ? kTransposed : kPlain, p.b_transposed ? kTransposed : kPlain, size(p.rows),
             size(p.cols), size(p.inner), 1.0f, a, size(p.a_stride), b, size(p.b_stride), p.add ? 1.0f : 0.0f, c,
             size(p.cols));
  }
};

void measure(const Product& product, double seconds, std::vector<Contestant>& contestants) {
  const std::vector<float> a(512 * 512, 0.01f), b(512 * 512, 0.02f);
  std::vector<float> c(512 * 512, 0.0f);
  const double operations =
      2.0 * static_cast<double>(product.rows) * static_cast<double>(product.cols) * static_cast<double>(product.inner);
  const auto times = static_cast<std::size_t>(std::max(1.0, 2e8 / operations));
  for (Contestant& each : contestants) each.best = 0.0;
  const Clock::time_point start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    for (Contestant& each : contestants) {
      std::fill(c.begin(), c.end(), 0.0f);
      const std::clock_t begin = std::clock();
      for (std::size_t i = 0; i < times; ++i) each.run(product, a.data(), b.data(), c.data());
      const double spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      each.best = std::max(each.best, operations * static_cast<double>(times) / spent / 1e9);
    }
  }
  std::string line = fmt::format(R"({{"product": "{}")", product.name);
  for (const Contestant& each : contestants) line += fmt::format(R"(, "{}": {:.1f})", each.name, each.best);
  fmt::print("{}}}\n", line);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1.0;
  std::vector<Contestant> contestants;
  for (const auto& kernel : nn::all_product_kernels<float>())
    contestants.push_back({std::string(core::processor_name(kernel.processor)), kernel});
  if (const Sgemm openblas = find_openblas()) contestants.push_back({.name = "openblas", .openblas = openblas});
  std::vector<Product> products = {{"large", 512, 512, 512, false, false, false, 512, 512}};
  add_layer(products, 128, 12, true);    // Criteo
  add_layer(products, 256, 128, false);  // its heads
  add_layer(products, 128, 128, false);  // those of one arm
  add_layer(products, 64, 107, true);    // marketing
  add_layer(products, 32, 64, false);
  add_layer(products, 32, 32, false);
  add_layer(products, 10, 32, false);
  for (const Product& product : products) measure(product, seconds, contestants);
  return 0;
}
