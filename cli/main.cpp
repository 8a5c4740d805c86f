// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "cli/session.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  dfcl::cli::Session session;
  dfcl::cli::add_init(session);
  dfcl::cli::add_simulate(session);
  dfcl::cli::add_check(session);
  dfcl::cli::add_train(session);
  dfcl::cli::add_predict(session);
  dfcl::cli::add_allocate(session);
  dfcl::cli::add_evaluate(session);
  dfcl::cli::add_compare(session);
  dfcl::cli::add_report(session);
  dfcl::cli::add_serve(session);
  dfcl::cli::add_deploy(session);
  dfcl::cli::add_readout(session);
  dfcl::cli::add_power(session);
  dfcl::cli::add_export(session);
  dfcl::cli::add_info(session);
  const int code = session.run(argc, argv);
#if !defined(__SANITIZE_ADDRESS__)  // which looks for leaks at the end
  // Everything is written and closed. Libraries have nothing to add, and under limits of memory or threads some crash,
  // or wait without end, when they take themselves apart.
  std::fflush(nullptr);
  _exit(code);
#endif
  return code;
}
