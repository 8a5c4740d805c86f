// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/export_model.h"

#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/model/export_onnx.h"
#include "dfcl/model/model_file.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {

std::string export_model(const ExportRequest& request, const core::RunContext& context) {
  const bool is_file = request.in_memory == nullptr;
  if (is_file) require_text("model", request.model);
  if (request.output) {
    require_ending("output", *request.output, ".onnx");
    require_output("output", *request.output, {is_file ? request.model : ""}, context);
  }
  std::string bytes =
      is_file ? model::onnx_bytes(model::read_model(request.model)) : model::onnx_bytes(*request.in_memory);
  if (request.output) io::write_text_file(*request.output, bytes);
  return bytes;
}

}  // namespace dfcl::verbs
