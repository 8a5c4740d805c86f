// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/split_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dfcl/core/version.h"
#include "dfcl/data/splits.h"
#include "dfcl/io/tables/table_writer.h"

namespace dfcl::verbs {

void write_splits(const std::string& path, const char* verb, const data::Trial& trial, const data::Trial* test) {
  constexpr std::size_t kRows = 65'536;
  const bool as_text = test != nullptr && test->ids.type() != trial.ids.type();
  const data::ColumnType id_type = as_text ? data::ColumnType::text : trial.ids.type();
  std::vector<data::ColumnInfo> columns = {{"id", id_type}};
  if (trial.has_time()) columns.push_back({"time", data::ColumnType::text});
  columns.push_back({"split", data::ColumnType::text});
  data::Provenance provenance{"split", core::version(), verb, {}};
  provenance.options.emplace_back("trial", fmt::format("{:016x}", trial.fingerprint));
  if (test != nullptr) provenance.options.emplace_back("test", fmt::format("{:016x}", test->fingerprint));
  io::TableWriter writer(path, columns, provenance);
  const auto write = [&](const data::Trial& rows) {
    for (std::size_t begin = 0; begin < rows.num_units(); begin += kRows) {
      const std::size_t end = std::min(rows.num_units(), begin + kRows);
      data::Batch batch;
      batch.num_rows = end - begin;
      for (const data::ColumnInfo& column : columns) batch.columns.push_back(data::empty_values(column.type));
      (void)data::append_ids(rows.ids, begin, end, batch.columns.front());
      for (std::size_t row = begin; row < end; ++row) {
        if (rows.has_time()) std::get<data::TextColumn>(batch.columns[1]).push_back(rows.times[rows.time[row]]);
        std::get<data::TextColumn>(batch.columns.back()).push_back(data::to_text(rows.split[row]));
      }
      writer.write(batch);
    }
  };
  write(trial);
  if (test != nullptr) write(*test);
  writer.commit();
}

}  // namespace dfcl::verbs
