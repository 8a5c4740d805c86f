// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/server.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "dfcl/core/error.h"

namespace dfcl::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using std::chrono::seconds;

constexpr int kMostConnections = 64;
constexpr std::uint32_t kMostHeaderBytes = 8'192;
constexpr seconds kReadTime{10};                        // for a request to arrive, the wait for it included
constexpr seconds kWriteTime{120};                      // for a reply to be taken
constexpr std::chrono::milliseconds kAcceptPause{100};  // after a connection could not be accepted

template <class Body>
void set_headers(http::response<Body>& response, const Reply& reply) {
  response.set(http::field::content_type, reply.type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("X-Frame-Options", "DENY");
  response.set("Content-Security-Policy",
               reply.policy.empty() ? "default-src 'none'; frame-ancestors 'none'" : reply.policy);
  if (!reply.file_name.empty())
    response.set(http::field::content_disposition, fmt::format("attachment; filename=\"{}\"", reply.file_name));
}

// Downloads are removed once they are sent, with what stands beside them.
struct RemovedFile {
  std::string path;
  explicit RemovedFile(std::string file) : path(std::move(file)) {}
  RemovedFile(const RemovedFile&) = delete;
  ~RemovedFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path + ".meta.json", ignored);
  }
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Site& site, int& count) : stream_(std::move(socket)), site_(site), count_(count) {
    ++count_;
  }
  ~Connection() { --count_; }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostRequestBytes);
    stream_.expires_after(kReadTime);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
  }

 private:
  void on_read(beast::error_code error) {
    if (error == http::error::body_limit) return write({.status = 413, .body = "too long\n"}, false);
    if (error == http::error::header_limit) return write({.status = 431, .body = "headers too long\n"}, false);
    if (error == http::error::end_of_stream || error == beast::error::timeout) return close();
    if (error.category() == http::make_error_code(http::error::bad_target).category())
      return write({.status = 400, .body = "not understood\n"}, false);
    if (error) return close();
    const auto& request = parser_->get();
    const auto text = [&](http::field field) { return std::string(request[field]); };
    // A header that stands twice has no one meaning.
    if (request.count(http::field::host) != 1 || request.count(http::field::origin) > 1)
      return write({.status = 400, .body = "one Host, please\n"}, false);
    Call call{std::string(request.method_string()),
              std::string(request.target()),
              text(http::field::host),
              text(http::field::origin),
              text(http::field::content_type),
              request.body()};
    const bool keep = request.keep_alive();
    stream_.expires_never();
    site_.handle(call, [self = shared_from_this(), keep](Reply reply) {
      asio::post(self->stream_.get_executor(),
                 [self, keep, reply = std::move(reply)]() mutable { self->write(std::move(reply), keep); });
    });
  }

  void write(Reply reply, bool keep) {
    stream_.expires_after(kWriteTime);
    if (reply.file.empty()) return write_text(reply, keep);
    write_file(reply, keep);
  }

  void write_text(Reply& reply, bool keep) {
    auto response = std::make_shared<http::response<http::string_body>>();
    response->result(static_cast<unsigned>(reply.status));
    set_headers(*response, reply);
    response->body() = std::move(reply.body);
    send(response, keep);
  }

  void write_file(const Reply& reply, bool keep) {
    auto file = std::make_shared<RemovedFile>(reply.file);
    auto response = std::make_shared<http::response<http::file_body>>();
    beast::error_code error;
    response->body().open(reply.file.c_str(), beast::file_mode::scan, error);
    if (error) return write({.status = 500, .body = "the plan could not be read\n"}, false);
    set_headers(*response, reply);
    file_ = std::move(file);
    send(response, keep);
  }

  template <class Response>
  void send(const std::shared_ptr<Response>& response, bool keep) {
    response->version(11);
    response->keep_alive(keep);
    response->prepare_payload();
    http::async_write(stream_, *response,
                      [self = shared_from_this(), response, keep](beast::error_code error, std::size_t) {
                        self->file_.reset();
                        if (error || !keep) return self->close();
                        self->read();
                      });
  }

  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes + kMostRequestBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<RemovedFile> file_;
  Site& site_;
  int& count_;
};

}  // namespace

struct Server::Impl {
  int connections = 0;  // outlives the connections that io holds
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer timer{io};
  asio::steady_timer pause{io};

  void accept(Site& site) {
    acceptor.async_accept([this, &site](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      // Out of file handles, say: the connection still waits, so accepting at once would fail without end.
      if (error) return accept_later(site);
      // Too many at once: this one is closed.
      if (connections < kMostConnections) std::make_shared<Connection>(std::move(socket), site, connections)->read();
      accept(site);
    });
  }

  void accept_later(Site& site) {
    pause.expires_after(kAcceptPause);
    pause.async_wait([this, &site](beast::error_code error) {
      if (!error) accept(site);
    });
  }

  void watch(core::RunContext& context, std::optional<std::chrono::steady_clock::time_point> end) {
    timer.expires_after(std::chrono::milliseconds(100));
    timer.async_wait([this, &context, end](beast::error_code) {
      context.check_cancelled();
      if (end && std::chrono::steady_clock::now() >= *end) return io.stop();
      watch(context, end);
    });
  }
};

Server::Server(const Endpoint& endpoint) : impl_(std::make_unique<Impl>()) {
  beast::error_code error;
  const auto address = asio::ip::make_address(endpoint.address, error);
  const auto listen = [&] {
    if (error) return;
    const tcp::endpoint place(address, endpoint.port);
    if (!impl_->acceptor.open(place.protocol(), error) &&
        !impl_->acceptor.set_option(asio::socket_base::reuse_address(true), error) &&
        !impl_->acceptor.bind(place, error))
      impl_->acceptor.listen(kMostConnections, error);
  };
  listen();
  if (error)
    throw core::Error(
        {.kind = core::ErrorKind::unavailable,
         .field = "port",
         .what = fmt::format("cannot listen on {}:{}: {}", endpoint.address, endpoint.port, error.message()),
         .hint = "another port may be free; 0 takes any"});
}

Server::~Server() = default;

std::string Server::host() const {
  const tcp::endpoint place = impl_->acceptor.local_endpoint();
  const std::string address = place.address().to_string();
  return fmt::format(fmt::runtime(place.address().is_v6() ? "[{}]:{}" : "{}:{}"), address, place.port());
}

void Server::run(Site& site, std::optional<double> seconds, core::RunContext& context) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> end;
  if (seconds) end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1000.0 * *seconds));
  impl_->accept(site);
  impl_->watch(context, end);
  impl_->io.run();
}

}  // namespace dfcl::serve
