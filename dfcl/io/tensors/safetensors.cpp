// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tensors/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tensors/strict_json.h"

namespace dfcl::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

constexpr std::size_t kPrefixBytes = 8;
constexpr std::size_t kMostDimensions = 8;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "checksum";
constexpr const char* kTypeNames[] = {"F32", "F64", "I64", "U8"};  // in the order of TensorValues

[[noreturn]] void refuse(const std::string& where, std::string what, std::string found = "",
                         std::string expected = "") {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = "not a whole and unaltered model file: " + std::move(what),
                     .where = where,
                     .found = std::move(found),
                     .expected = std::move(expected)});
}

std::size_t element_bytes(const TensorValues& values) {
  return std::visit([](const auto& typed) { return sizeof(typed[0]); }, values);
}

std::string_view bytes_of(const TensorValues& values) {
  return std::visit(
      [](const auto& typed) {
        return std::string_view(reinterpret_cast<const char*>(typed.data()), typed.size() * sizeof(typed[0]));
      },
      values);
}

bool all_finite(const TensorValues& values) {
  const auto finite = [](const auto& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](auto number) { return std::isfinite(number); });
  };
  if (const auto* floats = std::get_if<std::vector<float>>(&values)) return finite(*floats);
  if (const auto* doubles = std::get_if<std::vector<double>>(&values)) return finite(*doubles);
  return true;
}

// The tensors are in the order of the file.
std::string ordered_checksum(const TensorFile& file) {
  std::uint64_t hash = core::hash_text("dfcl safetensors");
  const auto add = [&](std::string_view text) { hash = core::hash_bytes(text.data(), text.size(), hash); };
  hash = core::combine_hashes(hash, file.metadata.size());
  for (const auto& [key, value] : file.metadata) {
    add(key);
    add(value);
  }
  for (const Tensor& tensor : file.tensors) {
    add(tensor.name);
    add(kTypeNames[tensor.values.index()]);
    hash = core::combine_hashes(hash, tensor.shape.size());
    for (const std::uint64_t size : tensor.shape) hash = core::combine_hashes(hash, size);
    add(bytes_of(tensor.values));
  }
  return fmt::format("{:016x}", hash);
}

// The number of elements and bytes, or false where they do not fit into 63 bits.
bool product(const std::vector<std::uint64_t>& shape, std::uint64_t width, std::uint64_t& bytes) {
  bytes = width;
  for (const std::uint64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return false;
  }
  return bytes < (std::uint64_t{1} << 63);
}

TensorValues values_of_type(std::string_view type, const std::string& where) {
  if (type == kTypeNames[0]) return std::vector<float>();
  if (type == kTypeNames[1]) return std::vector<double>();
  if (type == kTypeNames[2]) return std::vector<std::int64_t>();
  if (type == kTypeNames[3]) return std::vector<std::uint8_t>();
  refuse(where, "a tensor of an unknown type", core::printable_start(type), "F32, F64, I64 or U8");
}

// A tensor of the header, before its numbers are read.
struct Entry {
  Tensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Entry entry_of(const std::string& name, const nlohmann::json& json, std::uint64_t data_bytes,
               const std::string& where) {
  const auto field = [&](const char* key) -> const nlohmann::json& {
    if (!json.is_object() || json.size() != 3 || !json.contains(key)) {
      refuse(where, "a tensor without dtype, shape and data_offsets alone", core::printable_start(name));
    }
    return json[key];
  };
  const auto numbers = [&](const char* key) {
    std::vector<std::uint64_t> sizes;
    const nlohmann::json& list = field(key);
    if (!list.is_array() || list.size() > kMostDimensions) refuse(where, "a malformed header");
    for (const auto& size : list) {
      if (!size.is_number_unsigned()) refuse(where, "a malformed header");
      sizes.push_back(size.get<std::uint64_t>());
    }
    return sizes;
  };
  Entry entry;
  entry.tensor.name = name;
  if (!field("dtype").is_string()) refuse(where, "a malformed header");
  entry.tensor.values = values_of_type(field("dtype").get_ref<const std::string&>(), where);
  entry.tensor.shape = numbers("shape");
  const std::vector<std::uint64_t> offsets = numbers("data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
    refuse(where, "a tensor outside the file", core::printable_start(name));
  }
  entry.begin = offsets[0];
  entry.end = offsets[1];
  std::uint64_t bytes = 0;
  if (!product(entry.tensor.shape, element_bytes(entry.tensor.values), bytes) || bytes != entry.end - entry.begin) {
    refuse(where, "a tensor whose shape does not fit its bytes", core::printable_start(name));
  }
  return entry;
}

// The tensors of the header in the order of their places, which must follow on each other and fill the file.
std::vector<Entry> entries_of(const nlohmann::json& header, std::uint64_t data_bytes, const std::string& where) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name != kMetadata) entries.push_back(entry_of(name, json, data_bytes, where));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  std::uint64_t place = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != place)
      refuse(where, "tensors with a hole or an overlap", core::printable_start(entry.tensor.name));
    place = entry.end;
  }
  if (place != data_bytes) refuse(where, "bytes that belong to no tensor");
  return entries;
}

std::map<std::string, std::string> metadata_of(const nlohmann::json& header, const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (!header.contains(kMetadata) || !header[kMetadata].is_object()) refuse(where, "no metadata");
  for (const auto& [key, value] : header[kMetadata].items()) {
    if (!value.is_string()) refuse(where, "metadata that is not text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// What reading demands of names and sizes, as an error of ours. Puts the tensors into their order in the file.
void check_and_order(TensorFile& file) {
  const auto fail = [](std::string what) {
    throw core::Error({.what = "cannot make a model file: " + std::move(what)});
  };
  std::set<std::string> names = {kMetadata};
  if (file.tensors.size() > kMostTensors) fail("too many tensors");
  if (file.metadata.contains(kChecksum)) fail("a checksum of the caller's own");
  for (const Tensor& tensor : file.tensors) {
    std::uint64_t bytes = 0;
    const bool fits =
        product(tensor.shape, element_bytes(tensor.values), bytes) && bytes == bytes_of(tensor.values).size();
    if (!names.insert(tensor.name).second) fail(fmt::format("two tensors '{}'", tensor.name));
    if (!fits || tensor.shape.size() > kMostDimensions) fail(fmt::format("the shape of '{}' is wrong", tensor.name));
    if (!all_finite(tensor.values)) fail(fmt::format("'{}' holds numbers that are not finite", tensor.name));
  }
  // Empty tensors first: a place of no bytes says nothing about the order, so reading sorts them by name.
  std::stable_sort(file.tensors.begin(), file.tensors.end(), [](const Tensor& a, const Tensor& b) {
    const bool a_empty = bytes_of(a.values).empty();
    const bool b_empty = bytes_of(b.values).empty();
    if (a_empty || b_empty) return a_empty && (!b_empty || a.name < b.name);
    return element_bytes(a.values) > element_bytes(b.values);
  });
}

// Length and header, padded with blanks so that the numbers begin at a multiple of eight bytes.
std::string prefix_of(const TensorFile& file) {
  nlohmann::ordered_json header;
  header[kMetadata] = file.metadata;
  header[kMetadata][kChecksum] = ordered_checksum(file);
  std::uint64_t place = 0;
  for (const Tensor& tensor : file.tensors) {
    const std::uint64_t end = place + bytes_of(tensor.values).size();
    header[tensor.name] = {
        {"dtype", kTypeNames[tensor.values.index()]}, {"shape", tensor.shape}, {"data_offsets", {place, end}}};
    place = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    throw core::Error(
        {.kind = core::ErrorKind::data, .what = "cannot make a model file: a name or label that is not UTF-8"});
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMostHeaderBytes) {
    throw core::Error({.what = "cannot make a model file: the header is too long",
                       .found = fmt::format("{} bytes", text.size()),
                       .expected = fmt::format("at most {}", kMostHeaderBytes)});
  }
  const std::uint64_t length = text.size();
  std::string prefix(kPrefixBytes, '\0');
  std::memcpy(prefix.data(), &length, kPrefixBytes);
  return prefix + text;
}

struct Header {
  std::uint64_t length = 0;  // of its text
  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;
};

std::uint64_t header_length(std::string_view start, std::uint64_t file_bytes, const std::string& where) {
  std::uint64_t length = 0;
  if (file_bytes < kPrefixBytes) refuse(where, "too short", fmt::format("{} bytes", file_bytes));
  std::memcpy(&length, start.data(), kPrefixBytes);
  if (length > kMostHeaderBytes) refuse(where, "the header is too long, or this is no model file");
  if (length < 2 || length > file_bytes - kPrefixBytes) refuse(where, "cut short or no header");
  return length;
}

// start: of a file of so many bytes; it reaches to the end of the header.
Header header_of(std::string_view start, std::uint64_t file_bytes, const std::string& where) {
  Header header;
  header.length = header_length(start, file_bytes, where);
  if (start[kPrefixBytes] != '{') refuse(where, "cut short or no header");
  const nlohmann::json json = parse_strictly(start.substr(kPrefixBytes, header.length), 3, where);
  if (!json.is_object() || json.size() > kMostTensors + 1) refuse(where, "too many tensors");
  header.metadata = metadata_of(json, where);
  header.entries = entries_of(json, file_bytes - kPrefixBytes - header.length, where);
  return header;
}

// Memory is asked for when the header has been looked at: a length that it does not account for is refused before.
std::string read_all(const std::string& path) {
  const core::Descriptor file = core::open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!file || ::fstat(file.number(), &status) != 0) throw core::file_error(path, "cannot read", errno);
  if (!S_ISREG(status.st_mode)) refuse(path, "it is not a regular file");
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  std::string bytes;
  const auto read_to = [&](std::uint64_t end) {
    std::size_t done = bytes.size();
    bytes.resize(end);
    while (done < bytes.size()) {
      const ssize_t got = core::read_some(file.number(), bytes.data() + done, bytes.size() - done);
      if (got < 0) throw core::file_error(path, "cannot read", errno);
      if (got == 0) refuse(path, "it became shorter while it was read");
      done += static_cast<std::size_t>(got);
    }
  };
  read_to(std::min<std::uint64_t>(file_bytes, kPrefixBytes));
  read_to(kPrefixBytes + header_length(bytes, file_bytes, path));
  (void)header_of(bytes, file_bytes, path);
  read_to(file_bytes);
  return bytes;
}

}  // namespace

const Tensor* TensorFile::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string checksum_of(TensorFile file) {
  check_and_order(file);
  return ordered_checksum(file);
}

std::string safetensors_bytes(TensorFile file) {
  check_and_order(file);
  std::string bytes = prefix_of(file);
  for (const Tensor& tensor : file.tensors) bytes += bytes_of(tensor.values);
  return bytes;
}

void write_safetensors(const std::string& path, TensorFile file) {
  check_and_order(file);
  const std::string prefix = prefix_of(file);
  io::AtomicFile output(path);
  output.write(prefix);
  for (const Tensor& tensor : file.tensors) output.write(bytes_of(tensor.values));
  output.commit();
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& where) {
  Header header = header_of(bytes, bytes.size(), where);
  TensorFile file;
  file.metadata = std::move(header.metadata);
  const auto checksum = file.metadata.extract(kChecksum);
  const std::string_view numbers = bytes.substr(kPrefixBytes + header.length);
  for (Entry& entry : header.entries) {
    std::visit(
        [&](auto& typed) {
          const std::uint64_t size = entry.end - entry.begin;
          typed.resize(size / sizeof(typed[0]));
          if (size > 0) std::memcpy(typed.data(), numbers.data() + entry.begin, size);
        },
        entry.tensor.values);
    if (!all_finite(entry.tensor.values))
      refuse(where, "numbers that are not finite", core::printable_start(entry.tensor.name));
    file.tensors.push_back(std::move(entry.tensor));
  }
  if (checksum.empty() || checksum.mapped() != ordered_checksum(file)) {
    refuse(where, checksum.empty() ? "no checksum; dfcl did not write it" : "the checksum does not agree");
  }
  return file;
}

TensorFile read_safetensors(const std::string& path) { return parse_safetensors(read_all(path), path); }

bool is_safetensors(const std::string& path) {
  const core::Descriptor file = core::open_file(path, O_RDONLY | O_NONBLOCK);
  char bytes[kPrefixBytes + 1];
  struct stat status {};
  if (!file || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;  // others say why
  const ssize_t got = core::read_some_at(file.number(), bytes, sizeof(bytes), 0);
  if (got < 0) throw core::file_error(path, "cannot read", errno);
  if (got != static_cast<ssize_t>(sizeof(bytes))) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes, kPrefixBytes);
  return length <= kMostHeaderBytes && bytes[kPrefixBytes] == '{';
}

}  // namespace dfcl::io
