// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/id_hashes.h"

#include <charconv>
#include <string_view>

#include "dfcl/core/hash.h"

namespace dfcl::data {
namespace {

// A number as text, to be counted on.
class Counter {
 public:
  void set(std::int64_t number) {
    number_ = number;
    size_ = static_cast<std::size_t>(std::to_chars(letters_, letters_ + sizeof(letters_), number).ptr - letters_);
  }
  // To the number, which is often the next one.
  void move_to(std::int64_t number) {
    if (number_ < 0 || number - number_ != 1) return set(number);
    number_ = number;
    std::size_t place = size_;
    while (place > 0 && letters_[place - 1] == '9') letters_[--place] = '0';
    if (place > 0) {
      ++letters_[place - 1];
      return;
    }
    letters_[0] = '1';
    letters_[size_++] = '0';
  }
  std::string_view text() const { return {letters_, size_}; }

 private:
  std::int64_t number_ = -1;
  std::size_t size_ = 0;
  char letters_[24] = {};
};

}  // namespace

void fill_hashes(const Ids& ids, std::size_t first, std::span<std::uint64_t> hashes, std::uint64_t seed) {
  if (ids.type() != ColumnType::int64) {
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = ids.hash(first + i, seed);
    return;
  }
  Counter counter;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::int64_t number = ids.number(first + i);
    if (number < 0) {  // the difference of two numbers is one of them
      hashes[i] = ids.hash(first + i, seed);
      continue;
    }
    counter.move_to(number);
    hashes[i] = core::hash_text(counter.text(), seed);
  }
}

}  // namespace dfcl::data
