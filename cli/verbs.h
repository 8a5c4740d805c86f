// SPDX-License-Identifier: Apache-2.0
//
// Every verb of the program, one line each. A verb's options live as long as the session.
#pragma once

#include "cli/session.h"

namespace dfcl::cli {

void add_init(Session& session);
void add_simulate(Session& session);
void add_check(Session& session);
void add_train(Session& session);
void add_predict(Session& session);
void add_allocate(Session& session);
void add_evaluate(Session& session);
void add_compare(Session& session);
void add_report(Session& session);
void add_deploy(Session& session);
void add_readout(Session& session);
void add_power(Session& session);
void add_export(Session& session);
void add_info(Session& session);
void add_serve(Session& session);

}  // namespace dfcl::cli
