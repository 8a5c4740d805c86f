// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/info.h"

#include <fmt/format.h>

#include "dfcl/core/error_makers.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {

InfoResult info(const InfoRequest& request, core::RunContext& context) {
  if (request.study_keys) {
    if (!request.file.empty())
      throw core::field_error("study_keys", "is about no file", fmt::format("'{}'", request.file), "",
                              fmt::format("leave out the file, or {}", core::field_name("study_keys")));
    return data::study_reference();
  }
  if (request.file.empty()) throw core::field_error("file", "no file to look at");
  if (io::is_safetensors(request.file)) return model::read_model(request.file);
  return io::summarize_table(request.file, context);
}

}  // namespace dfcl::verbs
