// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/info.h"

#include <fmt/format.h>

#include "dfcl/core/error_makers.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {

namespace {

void require_no_file(const InfoRequest& request, const char* field) {
  if (request.file.empty()) return;
  throw core::field_error(field, "is about no file", fmt::format("'{}'", request.file), "",
                          fmt::format("leave out the file, or {}", core::field_name(field)));
}

}  // namespace

InfoResult info(const InfoRequest& request, core::RunContext& context) {
  if (request.study_keys) {
    require_no_file(request, "study_keys");
    if (request.machine)
      throw core::field_error("machine", fmt::format("does not go with {}", core::field_name("study_keys")));
    return data::study_reference();
  }
  if (request.machine) {
    require_no_file(request, "machine");
    return train::measure_machine(context);
  }
  if (request.file.empty()) throw core::field_error("file", "no file to look at");
  if (io::is_safetensors(request.file)) return model::read_model(request.file);
  return io::summarize_table(request.file, context);
}

}  // namespace dfcl::verbs
