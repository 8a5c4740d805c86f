// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/unit_records.h"

#include "dfcl/core/parallel.h"

namespace dfcl::forest {
namespace {

constexpr std::size_t kChunkUnits = 4096;

}  // namespace

UnitRecords::UnitRecords(const std::vector<FeatureBins>& features, core::MatrixView<const float> values,
                         std::span<const std::uint32_t> rows, const WorkingUnits& working, core::RunContext& context)
    : num_units_(rows.size()),
      lines_per_unit_((kFirstBin + features.size() + sizeof(Line) - 1) / sizeof(Line)),
      lines_(num_units_ * lines_per_unit_) {
  core::for_each_chunk(context, num_units_, kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      std::uint8_t* record = lines_[unit * lines_per_unit_].bytes;
      std::memcpy(record, &working.sums[unit], sizeof(Sums));
      record[kArmPlace] = working.arm[unit];
      const float* row = values.row(rows[unit]).data();
      for (std::size_t feature = 0; feature < features.size(); ++feature)
        record[kFirstBin + feature] = features[feature].bin_of(row[feature]);
    }
  });
}

}  // namespace dfcl::forest
