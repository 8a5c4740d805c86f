// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/splits.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/trial/trial_builder.h"
#include "dfcl/io/trial/trial_cache.h"
#include "dfcl/io/trial/trial_plan.h"
#include "dfcl/io/trial/trial_tile.h"

namespace dfcl::io {

std::string trial_path(const data::Study& study) {
  const std::filesystem::path path(study.data.trial.value_or(""));
  return path.is_absolute() || study.folder.empty() ? path.string()
                                                    : (std::filesystem::path(study.folder) / path).string();
}

namespace {

// A part of a file and where its features go: as many rows as the file says it has, or no place of its own.
struct PlacedPart {
  Part part;
  core::MatrixView<float> place;
};

struct ConvertedPart {
  Part part;
  std::int64_t num_rows = 0;
  std::int64_t num_lines = 0;
  TrialTile tile;
};

core::Error rows_error(const RecordSource& source) {
  return core::Error({.kind = core::ErrorKind::data,
                      .what = "the file holds another number of rows than it says",
                      .where = source.path(),
                      .hint = "write it again"});
}

// Rows of a part that the file has room for.
std::size_t require_count(const RecordSource& source, const Part& part, std::size_t most) {
  const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(0, part.num_rows));
  if (rows > most) throw rows_error(source);
  return rows;
}

void require_rows(const RecordSource& source, const Decoded& decoded, std::size_t rows) {
  if (static_cast<std::size_t>(decoded.num_rows) != rows) throw rows_error(source);
}

// Room for all features of a file that says how many rows it has and how many each part; none where its word would take
// more memory than a file of its size can be trusted with. A table in memory is what it says.
core::MatrixView<float> room_for(const RecordSource& source, const TrialPlan& plan, TrialBuilder& builder) {
  constexpr std::uint64_t kFloor = std::uint64_t{1} << 30;
  const std::uint64_t row_bytes = plan.features.size() * sizeof(float);
  const std::optional<std::int64_t> rows = source.num_rows();
  if (!rows || *rows <= 0 || !source.counts_parts() || row_bytes == 0) return {};
  const bool is_believed = is_memory_table(source.path()) ||
                           static_cast<std::uint64_t>(*rows) <= (kFloor + 64 * source.file_bytes()) / row_bytes;
  if (!is_believed) return {};
  return builder.make_room(static_cast<std::size_t>(*rows));
}

// Reads one file into the builder. bytes_before and bytes_total are for the progress bar.
void read_file(RecordSource& source, const TrialPlan& plan, const TileOptions& options, TrialBuilder& builder,
               std::uint64_t bytes_before, std::uint64_t bytes_total, core::RunContext& context) {
  source.select(plan.wanted);
  TileOptions tile_options = options;
  tile_options.letters = source.is_text_file() ? Letters::may_be_numbers : Letters::are_text;
  std::int64_t rows_before = 0;
  std::int64_t lines_before = 0;
  const core::MatrixView<float> room = room_for(source, plan, builder);
  std::size_t rows_placed = 0;
  core::ordered_pipeline(
      context,
      [&]() -> std::optional<PlacedPart> {
        context.progress("reading", bytes_before + source.bytes_read(), bytes_total, "bytes");
        std::optional<Part> part = source.next();
        if (!part) return std::nullopt;
        if (room.data == nullptr) return PlacedPart{std::move(*part), {}};
        const std::size_t rows = require_count(source, *part, room.rows - rows_placed);
        const core::MatrixView<float> place = room.slice(rows_placed, rows);
        rows_placed += rows;
        return PlacedPart{std::move(*part), place};
      },
      [&](PlacedPart placed) {
        Part part = std::move(placed.part);
        const Decoded decoded = source.decode(part);
        if (room.data != nullptr && !decoded.bad) require_rows(source, decoded, placed.place.rows);
        TrialTile tile = make_tile(plan, tile_options, decoded, placed.place);
        if (!tile.bad) part.batch = nullptr;  // needed for the place of an error only
        return ConvertedPart{std::move(part), decoded.num_rows, decoded.num_lines, std::move(tile)};
      },
      [&](ConvertedPart converted) {
        if (converted.tile.bad) throw source.error_of(*converted.tile.bad, converted.part, rows_before, lines_before);
        builder.append(std::move(converted.tile), [&](std::int64_t row) {
          return source.location(converted.part, row, rows_before, lines_before);
        });
        rows_before += converted.num_rows;
        lines_before += converted.num_lines;
      });
  if (room.data != nullptr && rows_placed != room.rows) throw rows_error(source);
}

data::Trial read_files(const data::Study& study, const std::vector<std::string>& files, const std::string& folder,
                       core::RunContext& context, bool is_part = false) {
  const TileOptions options{study.split.by == "hash", data::split_seed(study.split), {}};
  std::uint64_t bytes_total = 0;
  for (const std::string& file : files) bytes_total += io::bytes_of(file);

  auto source = open_records(files.front(), context.pool.threads());
  const TrialPlan plan = plan_trial(study, *source->schema(), source->is_text_file(), files.front());
  TrialBuilder builder(study, plan, folder, folder.empty() ? context.scratch_folder : folder, files.size(), is_part);
  std::uint64_t bytes_before = 0;
  for (const std::string& file : files) {
    if (file != files.front()) source = open_records(file, context.pool.threads());
    read_file(*source, plan, options, builder, bytes_before, bytes_total, context);
    source->require_unchanged();
    bytes_before += source->file_bytes();
  }
  context.finished("reading");
  return builder.finish(context);
}

}  // namespace

data::Trial read_trial(const data::Study& study, core::RunContext& context, const std::string& cache_folder) {
  const std::vector<std::string> files = input_files(trial_path(study));
  if (cache_folder.empty()) return read_files(study, files, "", context);
  if (is_memory_table(files.front())) throw core::usage_error("cache", "is for trials in files", "a table in memory");
  const std::uint64_t key = trial_cache_key(study, files);
  const ReadInto read = [&](const std::string& folder) {
    data::Trial trial = read_files(study, files, folder, context);
    if (trial_cache_key(study, files) != key)
      throw core::Error(
          {.kind = core::ErrorKind::file, .what = "the trial changed while it was read", .where = files.front()});
    return trial;
  };
  return cached_trial(cache_folder, key, read, context);
}

data::Trial read_trial_part(const data::Study& study, core::RunContext& context) {
  return read_files(study, input_files(trial_path(study)), "", context, true);
}

}  // namespace dfcl::io
