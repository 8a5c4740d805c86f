// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tensors/strict_json.h"

#include <unordered_set>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"

namespace dfcl::io {
namespace {

using nlohmann::json;

// Reads without keeping anything, for what the library's parser lets pass. The names are the library's.
class Inspector : public nlohmann::json_sax<json> {
 public:
  Inspector(int most_depth, const std::string& where) : most_depth_(most_depth), where_(where) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(json::string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    refuse("a JSON key that stands twice", "'" + core::printable_start(name) + "'");
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { refuse("not JSON"); }

  [[noreturn]] void refuse(const char* what, std::string found = "") const {
    throw core::Error({.kind = core::ErrorKind::file, .what = what, .where = where_, .found = std::move(found)});
  }

 private:
  bool open() {
    keys_.emplace_back();
    if (keys_.size() > static_cast<std::size_t>(most_depth_)) refuse("JSON nested too deeply");
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  int most_depth_;
  const std::string& where_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects and arrays that are open
};

}  // namespace

json parse_strictly(std::string_view text, int most_depth, const std::string& where) {
  Inspector inspector(most_depth, where);
  // The library takes a zero byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) inspector.refuse("not JSON", "a zero byte");
  json::sax_parse(text.begin(), text.end(), &inspector);
  return json::parse(text.begin(), text.end());
}

}  // namespace dfcl::io
