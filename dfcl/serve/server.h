// SPDX-License-Identifier: Apache-2.0
//
// The sockets of `dfcl serve`: HTTP/1.1 by Boost.Beast, one thread. Limits on the number of connections, on sizes and
// on the time a request may take to arrive; what they exceed is closed. Nothing here knows what is served.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/serve/site.h"

namespace dfcl::serve {

struct Endpoint {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
};

// Bound when it is made, so that its port is known before there is a site.
class Server {
 public:
  // Throws Error of kind unavailable where the address cannot be listened on.
  explicit Server(const Endpoint& endpoint);
  ~Server();

  std::string host() const;  // "127.0.0.1:40123"
  // Serves until the context is cancelled, or for so many seconds.
  void run(Site& site, std::optional<double> seconds, core::RunContext& context);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfcl::serve
