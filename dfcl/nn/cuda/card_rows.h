// SPDX-License-Identifier: Apache-2.0
//
// The rows of one training set for the kernels: what products read of them, and what was observed, a record a row. On
// the card; where they are too large for it, in the machine's memory, from which the rows of the next steps go to the
// card while it computes those before. Written by all threads of the context.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "dfcl/core/parallel.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/cuda/plan.h"
#include "dfcl/nn/cuda/row_memory.h"
#include "dfcl/nn/inputs/table_encoding.h"

namespace dfcl::nn::cuda {

inline constexpr std::uint32_t kNeverFailed = std::numeric_limits<std::uint32_t>::max();  // and no row

// Of a row: `record_inputs` words of inputs, then what was observed, in a record of `record_floats`; lookups beside it.
struct RowShape {
  std::size_t lookups = 0;
  std::size_t record_inputs = 0;
  std::size_t record_floats = 0;
  std::size_t num_arms = 0;
  bool nuisance = false;

  std::uint64_t bytes() const { return lookups * sizeof(Lookup) + record_floats * sizeof(float); }
};

inline void require_rows(const RowShape& shape, const TrainingRows& data, std::span<const std::uint32_t> rows) {
  const auto refuse = [](const char* what) { throw core::Error({.what = what}); };
  const std::size_t count = data.arm.size();
  if (rows.empty() || rows.size() >= kNeverFailed) refuse("no rows to load");
  bool fits = data.revenue.size() == count && data.cost.size() == count && data.weight.size() == count;
  if (shape.nuisance) {
    const std::size_t size = count * shape.num_arms;
    fits = fits && data.nuisance_revenue.size() == size && data.nuisance_cost.size() == size &&
           (data.sample.empty() || data.sample.size() == count);
  }
  if (!fits) refuse("outcomes of different sizes");
  if (std::ranges::any_of(rows, [&](std::uint32_t row) { return row >= count; })) refuse("rows that are not there");
}

// What was observed of a row.
inline void write_facts(const TrainingRows& data, bool nuisance, std::uint32_t row, float* to) {
  *to++ = data.revenue[row];
  *to++ = data.cost[row];
  *to++ = data.weight[row];
  *to++ = static_cast<float>(data.arm[row]);
  if (!nuisance) return;
  to = std::ranges::copy(data.nuisance_revenue.row(row), to).out;
  to = std::ranges::copy(data.nuisance_cost.row(row), to).out;
  *to = data.sample.empty() ? 1.0f : data.sample[row];
}

// Whether so many bytes of rows go on the card, a sixteenth of whose memory is left to other things.
inline bool fits_on_card(std::uint64_t bytes, std::uint64_t most_bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "reading its size");
  return bytes <= most_bytes && bytes + total / 16 <= free;
}

// Some rows on the card, one after the other.
class CardRows {
 public:
  CardRows() = default;
  CardRows(const Stream& stream, std::size_t rows, const RowShape& shape)
      : lookups_(stream, rows, shape.lookups), records_(stream, rows, shape.record_floats) {
    stream.wait("clearing memory");  // other streams fill it
  }

  // write(first, count, lookups, records) writes rows first .. first + count - 1 of `count` into lookups and records.
  template <class Write>
  void fill(const Stream& stream, std::size_t count, Write&& write) {
    constexpr std::size_t kPiece = RowArray<float>::kPiece;
    for (std::size_t first = 0; first < count; first += kPiece) {
      const std::size_t here = std::min(kPiece, count - first);
      write(first, here, lookups_.piece(first), records_.piece(first));
      lookups_.push(stream, first, here);
      records_.push(stream, first, here);
    }
    stream.wait("copying to it");
  }
  void release_pinned() {
    lookups_.release_pinned();
    records_.release_pinned();
  }

  const Lookup* lookups() const { return lookups_.data(); }
  const float* records() const { return records_.data(); }

 private:
  RowArray<Lookup> lookups_;
  RowArray<float> records_;
};

// All rows of a set: on the card, or for the card.
class LoadedRows {
 public:
  LoadedRows() = default;

  // write_inputs(rows, lookups, records) writes those of some rows, one after the other, into lookups and the
  // beginnings of records; called by several threads.
  template <class WriteInputs>
  LoadedRows(const Stream& stream, const RowShape& shape, std::uint64_t most_bytes, const TrainingRows& data,
             std::span<const std::uint32_t> rows, core::RunContext& context, WriteInputs&& write_inputs)
      : shape_(shape) {
    require_rows(shape, data, rows);
    count_ = static_cast<std::uint32_t>(rows.size());
    on_card_ = fits_on_card(rows.size() * shape.bytes(), most_bytes);
    const auto write = [&](std::size_t first, std::size_t count, Lookup* lookups, float* records) {
      core::for_each_chunk(context, count, 2048, [&](std::size_t begin, std::size_t end, std::size_t) {
        const std::span<const std::uint32_t> own = rows.subspan(first + begin, end - begin);
        float* record = records + begin * shape.record_floats;
        std::fill_n(record, own.size() * shape.record_floats, 0.0f);
        write_inputs(own, lookups + begin * shape.lookups, record);
        for (const std::uint32_t row : own) {
          write_facts(data, shape.nuisance, row, record + shape.record_inputs);
          record += shape.record_floats;
        }
      });
    };
    if (on_card_) {
      on_card_rows_ = CardRows(stream, rows.size(), shape);
      on_card_rows_.fill(stream, rows.size(), write);
      on_card_rows_.release_pinned();
    } else {
      lookups_ = core::Matrix<Lookup>(context.scratch(), rows.size(), shape.lookups);
      records_ = core::Matrix<float>(context.scratch(), rows.size(), shape.record_floats);
      write(0, rows.size(), lookups_.data(), records_.data());
    }
  }

  std::uint32_t count() const { return count_; }
  bool on_card() const { return on_card_; }
  const CardRows& card_rows() const { return on_card_rows_; }

  // How many rows go to the card at a time where they are not there: whole batches of some 128 MiB.
  std::uint32_t rows_at_a_time(std::uint32_t batch) const {
    constexpr std::uint64_t kBytes = std::uint64_t{128} << 20;
    const std::uint64_t batches = std::max<std::uint64_t>(1, kBytes / (shape_.bytes() * batch));
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(batches * batch, kNeverFailed / batch * batch));
  }
  CardRows room_for(const Stream& stream, std::uint32_t rows) const { return CardRows(stream, rows, shape_); }
  // Rows row_at(0) .. row_at(count - 1) of those that are not on the card.
  template <class RowAt>
  void send(const Stream& stream, std::size_t count, core::RunContext& context, CardRows& to, RowAt&& row_at) const {
    to.fill(stream, count, [&](std::size_t first, std::size_t here, Lookup* lookups, float* records) {
      core::for_each_chunk(context, here, kCopied, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::array<std::size_t, kCopied> chosen;
        for (std::size_t i = begin; i < end; ++i) chosen[i - begin] = row_at(first + i);
        for (std::size_t i = begin; i < end; ++i) {
          if (i + kAhead < end) fetch(chosen[i + kAhead - begin]);
          std::ranges::copy(lookups_.row(chosen[i - begin]), lookups + i * shape_.lookups);
          std::ranges::copy(records_.row(chosen[i - begin]), records + i * shape_.record_floats);
        }
      });
    });
  }

 private:
  static constexpr std::size_t kCopied = 2048;  // rows of a piece of work
  static constexpr std::size_t kAhead = 12;     // rows that are on their way from memory
  void fetch(std::size_t row) const {
    constexpr std::size_t kLine = 64;
    const auto fetch_bytes = [](const void* from, std::size_t bytes) {
      for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at);
    };
    fetch_bytes(lookups_.data() + row * shape_.lookups, shape_.lookups * sizeof(Lookup));
    fetch_bytes(records_.data() + row * shape_.record_floats, shape_.record_floats * sizeof(float));
  }

  RowShape shape_;
  std::uint32_t count_ = 0;
  bool on_card_ = true;
  CardRows on_card_rows_;
  core::Matrix<Lookup> lookups_;
  core::Matrix<float> records_;
};

}  // namespace dfcl::nn::cuda
