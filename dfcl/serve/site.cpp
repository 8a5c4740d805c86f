// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/site.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/serve/planner_page.h"

namespace dfcl::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kKeptAnswers = 64;
constexpr std::size_t kMostDownloads = 16;  // that wait

// In time that does not depend on where they differ.
bool same_token(std::string_view given, std::string_view token) {
  unsigned different = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i)
    different |= static_cast<unsigned char>(i < given.size() ? given[i] : 0) ^ static_cast<unsigned char>(token[i]);
  return different == 0;
}

Reply plain(int status, const std::string& text) { return {.status = status, .body = text + "\n"}; }

Reply json_reply(int status, const Json& json) {
  return {
      .status = status, .type = "application/json", .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Not an error: a newer move came.
Reply stale() { return json_reply(200, {{"stale", true}}); }

int status_of(core::ErrorKind kind) {
  switch (kind) {
    case core::ErrorKind::usage: return 400;
    case core::ErrorKind::data:
    case core::ErrorKind::infeasible: return 422;
    default: return 500;
  }
}

Reply error_reply(const core::Error& error) {
  if (error.kind() == core::ErrorKind::interrupted) return stale();
  return json_reply(status_of(error.kind()), {{"error", core::to_message(error.details())}});
}

std::string host_name(std::string_view host) { return std::string(host.substr(0, host.rfind(':'))); }

// The address itself, or localhost where that is the loopback.
bool is_host(std::string_view given, const std::string& host) {
  if (given == host) return true;
  const std::string port = host.substr(host.rfind(':'));
  return host_name(host) == "127.0.0.1" && given == "localhost" + port;
}

}  // namespace

Site::Site(std::unique_ptr<Planner> planner, SiteOptions options)
    : planner_(std::move(planner)), options_(std::move(options)) {
  if (planner_) {
    page_ = planner_page(planner_->facts(), !options_.report.empty());
    worker_ = std::thread([this] { run(); });
  }
}

Site::~Site() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    cancel_ = true;
  }
  wake_.notify_all();
  if (worker_.joinable()) worker_.join();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void Site::handle(const Call& call, Answer answer) {
  const bool is_own = call.origin.empty() || (call.origin.starts_with("http://") &&
                                              is_host(std::string_view(call.origin).substr(7), options_.host));
  if (!is_host(call.host, options_.host) || !is_own) return answer(plain(403, "not for this host"));
  if (!call.target.starts_with('/')) return answer(plain(400, "no path"));
  const std::size_t end = call.target.find('/', 1);
  if (end == std::string::npos || !same_token(std::string_view(call.target).substr(1, end - 1), options_.token))
    return answer(plain(403, "wrong token"));
  const std::string_view what = std::string_view(call.target).substr(end + 1);
  const bool is_get = call.method == "GET";
  if (what == "solve" && planner_) {
    if (call.method != "POST") return answer(plain(405, "POST only"));
    if (!call.content_type.starts_with("application/json")) return answer(plain(415, "application/json only"));
    return hand_over_solve({.body = call.body, .answer = std::move(answer)});
  }
  if (!is_get) return answer(plain(405, "GET only"));
  const bool is_report = what == "report" || (what.empty() && !planner_);
  if (is_report && !options_.report.empty())
    return answer(
        {.type = "text/html; charset=utf-8", .body = options_.report, .policy = page_policy(options_.report)});
  if (what.empty() && planner_)
    return answer({.type = "text/html; charset=utf-8", .body = page_, .policy = page_policy(page_)});
  const bool is_csv = what.ends_with(".csv");
  if (what.starts_with("plan/") && planner_ && (is_csv || what.ends_with(".parquet"))) {
    const std::optional<Settings> settings = settings_of(what.substr(5, what.rfind('.') - 5));
    if (!settings) return answer(plain(404, "no such plan; solve it again"));
    return hand_over_download({.body = {}, .settings = settings, .is_csv = is_csv, .answer = std::move(answer)});
  }
  answer(plain(404, "there is nothing here"));
}

std::optional<Settings> Site::settings_of(std::string_view id) {
  std::uint64_t number = 0;
  const auto [rest, problem] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (problem != std::errc() || rest != id.data() + id.size()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const auto& [known, settings] : kept_) {
    if (known == number) return settings;
  }
  return std::nullopt;
}

// The newest move waits; what it replaces is stale.
void Site::hand_over_solve(Work work) {
  std::optional<Work> replaced;
  {
    const std::lock_guard lock(mutex_);
    replaced = std::move(waiting_);
    waiting_ = std::move(work);
    if (is_busy_ && is_long_) cancel_ = true;
  }
  wake_.notify_one();
  if (replaced) replaced->answer(stale());
}

void Site::hand_over_download(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (downloads_.size() < kMostDownloads) {
      downloads_.push_back(std::move(work));
      wake_.notify_one();
      return;
    }
  }
  work.answer(plain(503, "too many downloads are waiting"));
}

void Site::run() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      is_busy_ = false;
      wake_.wait(lock, [&] { return is_done_ || waiting_ || !downloads_.empty(); });
      if (is_done_) return;
      if (!downloads_.empty()) {
        work = std::move(downloads_.front());
        downloads_.pop_front();
      } else {
        work = std::move(*waiting_);
        waiting_.reset();
      }
      cancel_ = false;
      is_busy_ = true;
      is_long_ = false;
    }
    Reply reply;
    try {
      reply = work.settings ? download(*work.settings, work.is_csv) : solve(work.body);
    } catch (const core::Error& error) {
      reply = error_reply(error);
    } catch (const std::bad_alloc&) {
      reply = json_reply(500, {{"error", "out of memory"}});
    } catch (const std::exception& error) {  // a request never ends the server
      reply = json_reply(500, {{"error", core::printable_start(error.what())}});
    }
    work.answer(std::move(reply));
  }
}

Reply Site::solve(const std::string& body) {
  const SolveRequest request = read_request(body, planner_->scope());
  {
    const std::lock_guard lock(mutex_);
    is_long_ = request.settings.is_coupled();
    if (is_long_ && waiting_) cancel_ = true;
  }
  const PlannerAnswer answer = planner_->solve(request, cancel_);
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    kept_.emplace_back(id, request.settings);
    if (kept_.size() > kKeptAnswers) kept_.pop_front();
  }
  return {.type = "application/json",
          .body = fmt::format("{{\"id\":{},\"moves\":{},\"plan\":{}}}", id, Json(answer.moves).dump(),
                              report::plans_json({answer.plan}))};
}

Reply Site::download(const Settings& settings, bool is_csv) {
  if (folder_.empty()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfcl-serve-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw core::Error({.kind = core::ErrorKind::file, .what = "cannot make a folder for downloads"});
    folder_ = pattern;
  }
  const std::string name = is_csv ? "plan.csv" : "plan.parquet";
  const std::string path = fmt::format("{}/{}-{}", folder_, ++num_downloads_, name);
  planner_->write(settings, path, cancel_);
  return {
      .type = is_csv ? "text/csv; charset=utf-8" : "application/vnd.apache.parquet", .file = path, .file_name = name};
}

}  // namespace dfcl::serve
