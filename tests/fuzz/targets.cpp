// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/run_context.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/table_sample_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/io/trial/trial_cache.h"
#include "dfcl/io/trial/trial_reader.h"

namespace dfcl::fuzz {
namespace {

constexpr const char* kStudy = R"(format = 2
[data]
trial = "t"
[columns]
arm = "treatment"
revenue = "visit"
cost = "conversion"
)";

core::RunContext& context() {
  static core::RunContext one_thread(1);
  return one_thread;
}

// A file in memory with these bytes; readers open it by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_) throw std::runtime_error("no file in memory");
    core::write_all(file_.number(), bytes, "fuzz");
    path_ = fmt::format("/proc/self/fd/{}", file_.number());
  }
  const std::string& path() const { return path_; }

 private:
  core::Descriptor file_;
  std::string path_;
};

template <class Parse>
void expect_refusal_or_success(Parse&& parse) {
  try {
    parse();
  } catch (const core::Error& error) {
    // Exit code 1 is a bug of ours, by our own words.
    if (error.kind() == core::ErrorKind::internal) throw;
  }
}

void fuzz_study(std::string_view bytes) {
  if (bytes.size() > (std::size_t{1} << 20)) return;  // readers refuse more
  expect_refusal_or_success([&] {
    const data::Study study = io::parse_study(std::string(bytes), "study.toml", "", {}, false);
    // What we write, we read.
    (void)io::parse_study(io::study_text(study), "again.toml", "", {}, false);
  });
}

void fuzz_setting(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_study(kStudy, "study.toml", "", {std::string(bytes)}, false); });
}

// Whatever its format: the first bytes decide.
void fuzz_table(std::string_view bytes) {
  const MemoryFile file(bytes);
  expect_refusal_or_success([&] {
    const data::TableSummary summary = io::summarize_table(file.path(), context());
    (void)io::sample_table(file.path(), summary, context());
  });
  expect_refusal_or_success([&] {
    data::Study study = io::parse_study(kStudy, "study.toml", "", {}, false);
    study.data.trial = file.path();
    (void)io::read_trial(study, context());
  });
}

void fuzz_prediction(std::string_view bytes) {
  const MemoryFile file(bytes);
  expect_refusal_or_success([&] { (void)io::read_prediction(file.path(), "", context()); });
  expect_refusal_or_success([&] { (void)io::read_plan(file.path(), context()); });
  expect_refusal_or_success([&] { (void)io::read_segment_budgets(file.path(), context()); });
}

void fuzz_safetensors(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_safetensors(bytes, "model"); });
  const MemoryFile file(bytes);
  (void)io::is_safetensors(file.path());
  expect_refusal_or_success([&] { (void)io::read_safetensors(file.path()); });
}

void fuzz_json(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_strictly(bytes, 8, "json"); });
}

// The header of a cache, with the checksum that it needs to be looked at. Its columns are empty files.
void fuzz_cache(std::string_view bytes) {
  static const std::string folder = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfcl-fuzz-XXXXXX").string();
    return std::string(::mkdtemp(pattern.data()));
  }();
  constexpr std::uint64_t kKey = 1;
  const std::string place = fmt::format("{}/trial-{:016x}", folder, kKey);
  std::filesystem::create_directories(place);
  for (const char* name : {"features", "arm", "revenue", "cost", "split", "ids"})
    (void)core::open_file(fmt::format("{}/{}", place, name), O_WRONLY | O_CREAT, 0600);
  const core::Descriptor header = core::open_file(place + "/header", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::string text = fmt::format("{:016x}\n{}", core::hash_text(bytes), bytes);
  core::write_all(header.number(), text, place);
  const io::ReadInto never = [](const std::string&) -> data::Trial { throw core::Error({.what = "read anew"}); };
  expect_refusal_or_success([&] { (void)io::cached_trial(folder, kKey, never, context()); });
}

constexpr std::array<Target, 9> kTargets = {{{"study", fuzz_study},
                                             {"setting", fuzz_setting},
                                             {"csv", fuzz_table},
                                             {"parquet", fuzz_table},
                                             {"arrow", fuzz_table},
                                             {"prediction", fuzz_prediction},
                                             {"safetensors", fuzz_safetensors},
                                             {"json", fuzz_json},
                                             {"cache", fuzz_cache}}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

}  // namespace dfcl::fuzz
