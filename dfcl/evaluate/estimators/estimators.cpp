// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/estimators.h"

namespace dfcl::evaluate {

std::string_view to_text(Estimator estimator) {
  switch (estimator) {
    case Estimator::horvitz_thompson: return "horvitz-thompson";
    case Estimator::hajek: return "hajek";
    case Estimator::stratified: return "stratified";
    case Estimator::doubly_robust: return "doubly-robust";
  }
  return "";
}

}  // namespace dfcl::evaluate
