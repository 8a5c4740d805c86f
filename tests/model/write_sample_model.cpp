// SPDX-License-Identifier: Apache-2.0
//
// Writes the sample model to the file named, for tests in Python.
#include <exception>
#include <iostream>

#include "dfcl/model/model_file.h"
#include "sample_model.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    dfcl::model::write_model(argv[1], dfcl::model::sample_model());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
