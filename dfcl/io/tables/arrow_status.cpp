// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/arrow_status.h"

#include <fmt/format.h>

#include <new>

#include "dfcl/core/error.h"
#include "dfcl/core/field.h"

namespace dfcl::io {

void require_good(const arrow::Status& status, const std::string& path, const char* doing) {
  if (status.ok()) return;
  std::string reason = status.message();
  if (const auto line_end = reason.find('\n'); line_end != std::string::npos) reason.resize(line_end);
  if (status.detail() != nullptr) reason += ", " + status.detail()->ToString();
  // What the system refuses says nothing about the file. Arrow's pools speak of "malloc" then, a cap of ours does not.
  if (status.IsOutOfMemory() && reason.find("alloc of size") != std::string::npos) throw std::bad_alloc();
  if (reason.find("Failed to launch worker thread") != std::string::npos)
    throw core::Error({.what = "the system starts no more threads",
                       .hint = fmt::format("use fewer: {}", core::field_name("threads"))});
  std::string hint;
  if (status.IsOutOfMemory()) {
    hint = "the file claims more data than it can hold, or there is too little memory";
  } else if (std::string_view(doing) == "read") {
    hint = "the file may be cut short or damaged; write or copy it anew";
  }
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = fmt::format("cannot {}", doing),
                     .where = path,
                     .found = fmt::format("'{}'", reason),
                     .hint = hint});
}

}  // namespace dfcl::io
