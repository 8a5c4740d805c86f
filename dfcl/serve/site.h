// SPDX-License-Identifier: Apache-2.0
//
// What the served page is made of, and who may ask for it: requests in, replies out, without a socket. A request needs
// the token in its path and the right Host and Origin; there are four kinds: the page, the report, one POST that
// solves, and the plan of an answer as a file. No request names a file. One worker serves downloads in their order,
// then the newest move: an older move that waits or runs is given up and answered as stale, a download never. Memory:
// the planner's, and the settings of the last kKeptAnswers answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "dfcl/serve/planner.h"

namespace dfcl::serve {

struct Call {
  std::string method;  // "GET"
  std::string target;  // path, with its query
  std::string host;    // headers; "" where there is none
  std::string origin;
  std::string content_type;
  std::string body;
};

struct Reply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string file = {};       // sent instead of the body, and removed then
  std::string file_name = {};  // for the reader's download
  std::string policy = {};     // content security policy; "": that of a text
};
using Answer = std::function<void(Reply)>;

struct SiteOptions {
  std::string token;
  std::string host;    // "127.0.0.1:8080"; the only Host and, after "http://", Origin that are served
  std::string report;  // page of finished results; "": none
};

class Site {
 public:
  // planner may be null: then there is only the report.
  Site(std::unique_ptr<Planner> planner, SiteOptions options);
  ~Site();

  // Calls `answer` exactly once, now or later, from any thread.
  void handle(const Call& call, Answer answer);

 private:
  struct Work {
    std::string body;                       // of a POST
    std::optional<Settings> settings = {};  // of a download
    bool is_csv = false;
    Answer answer;
  };
  void hand_over_solve(Work work);
  void hand_over_download(Work work);
  void run();
  Reply solve(const std::string& body);
  Reply download(const Settings& settings, bool is_csv);
  std::optional<Settings> settings_of(std::string_view id);

  std::unique_ptr<Planner> planner_;
  SiteOptions options_;
  std::string page_;
  std::string folder_;  // of downloads; made when first needed, removed at the end
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Work> waiting_;  // the newest move
  std::deque<Work> downloads_;   // in the order they were asked for
  std::atomic<bool> cancel_ = false;
  bool is_done_ = false;
  bool is_busy_ = false;
  bool is_long_ = false;  // what is solved has coupled limits: given up for a newer move; plain ones are soon done
  std::deque<std::pair<std::uint64_t, Settings>> kept_;
  std::uint64_t next_id_ = 1;
  std::uint64_t num_downloads_ = 0;  // the worker's own, as folder_
  std::thread worker_;
};

}  // namespace dfcl::serve
