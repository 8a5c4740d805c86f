// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

std::string dump_json(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report
