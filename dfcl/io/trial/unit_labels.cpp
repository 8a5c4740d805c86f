// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/unit_labels.h"

#include <unordered_map>

#include "dfcl/data/batch.h"
#include "dfcl/io/tables/batch_reader.h"

namespace dfcl::io {

UnitLabels read_unit_labels(const std::string& path, const std::string& id_column, const std::string& column,
                            core::RunContext& context) {
  std::vector<std::string> names = {column};
  if (!id_column.empty()) names.push_back(id_column);
  const auto source = open_batches(path, names, std::vector<data::ColumnType>(names.size(), data::ColumnType::text),
                                   context, id_column);
  UnitLabels result;
  std::unordered_map<std::string, std::uint32_t> codes;
  data::TextColumn ids;
  data::Batch batch;
  while (source->next(batch)) {
    const auto& values = std::get<data::TextColumn>(batch.columns[0]);
    for (std::size_t row = 0; row < batch.num_rows; ++row) {
      const std::string value(values[row].empty() ? std::string_view("(missing)") : values[row]);
      const auto [entry, is_new] = codes.try_emplace(value, static_cast<std::uint32_t>(result.labels.size()));
      if (is_new) result.labels.push_back(value);
      result.label.push_back(entry->second);
    }
    if (!id_column.empty()) ids.append(std::get<data::TextColumn>(batch.columns[1]));
  }
  if (id_column.empty()) {
    result.ids = data::RowNumbers{1, result.label.size()};
  } else {
    result.ids = std::move(ids);
  }
  return result;
}

}  // namespace dfcl::io
