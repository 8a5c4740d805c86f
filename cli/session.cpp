// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/flag_style.h"
#include "cli/help.h"
#include "cli/key_flags.h"
#include "cli/progress_line.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/core/version.h"
#include "dfcl/verbs/words.h"

namespace dfcl::cli {
namespace {

using core::Error;
using core::ErrorDetails;
using core::ErrorKind;

// A signal handler can reach nothing but globals.
std::atomic<bool> stop_requested = false;
std::atomic<int> stop_signals = 0;

constexpr std::string_view kOutOfMemory =
    "dfcl: error: out of memory\nhint: use fewer rows or columns, or a machine with more memory\n";

extern "C" void request_stop(int) {
  stop_requested.store(true);
  // The first signal stops cleanly. `timeout` sends two at once, so the third is the one that means "now".
  if (stop_signals.fetch_add(1) >= 2) _exit(static_cast<int>(ErrorKind::interrupted));
}

// One error, though several threads may find that there is no memory: the first says it, the others wait for the end.
std::atomic_flag error_is_said;
thread_local bool says_error = false;

void be_the_only_one() {
  if (says_error) return;  // an error in the middle of saying another
  while (error_is_said.test_and_set()) ::pause();
  says_error = true;
}

// For handlers, which may allocate nothing: says why, and ends the process. Temporary files of the run are left for the
// next one to remove.
[[noreturn]] void end_at_once(std::string_view message, ErrorKind kind) {
  be_the_only_one();
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  _exit(static_cast<int>(kind));
}

// A page of a mapped file that is not there any more.
extern "C" void end_without_file(int) {
  end_at_once(
      "dfcl: error: a file that is mapped into memory (--cache) was cut or cannot be read any more\n"
      "hint: run again; a damaged cache is named then\n",
      ErrorKind::file);
}

// An exception in a thread of a library, or one that nothing can catch any more.
[[noreturn]] void end_without_handler() {
  try {
    if (const std::exception_ptr failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    end_at_once(kOutOfMemory, ErrorKind::internal);
  } catch (const std::system_error&) {
    end_at_once("dfcl: error: the system starts no more threads\nhint: use fewer with --threads\n",
                ErrorKind::internal);
  } catch (...) {
  }
  end_at_once("dfcl: error: unexpected end\nhint: this is a bug in dfcl\n", ErrorKind::internal);
}

// A file that the program opens later must not become its standard output: messages would be written into it. What is
// written to a closed standard output fails, as on a full disk: results that are lost are no success.
void occupy_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) < 0) (void)!::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void install_signal_handlers() {
  std::set_terminate(end_without_handler);
  struct sigaction lost = {};
  lost.sa_handler = end_without_file;
  sigemptyset(&lost.sa_mask);
  sigaction(SIGBUS, &lost, nullptr);

  struct sigaction stop = {};
  stop.sa_handler = request_stop;
  sigemptyset(&stop.sa_mask);
  stop.sa_flags = SA_RESTART;
  sigaction(SIGINT, &stop, nullptr);
  sigaction(SIGTERM, &stop, nullptr);
  // Both then show as a failed write: a closed pipe ends us quietly, a file-size limit is an error like a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal: return "internal";
    case ErrorKind::usage: return "usage";
    case ErrorKind::data: return "data";
    case ErrorKind::file: return "file";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::infeasible: return "infeasible";
    case ErrorKind::unfit: return "unfit";
    case ErrorKind::interrupted: return "interrupted";
  }
  return "internal";
}

// As text, or with --json as one object. Returns the exit code.
int report_error(const ErrorDetails& details, const core::FieldStyle& style, bool as_json) {
  be_the_only_one();
  const int code = static_cast<int>(details.kind);
  if (as_json) {
    const ErrorDetails shown = core::rendered(details, style);
    nlohmann::ordered_json error = {{"kind", kind_name(details.kind)}, {"exit_code", code}, {"what", shown.what}};
    if (!shown.field.empty()) error["field"] = shown.field;
    if (!shown.where.empty()) error["where"] = shown.where;
    if (!shown.found.empty()) error["found"] = shown.found;
    if (!shown.expected.empty()) error["expected"] = shown.expected;
    if (!shown.hint.empty()) error["hint"] = shown.hint;
    // Bytes of a broken input may not be UTF-8.
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    say(nlohmann::ordered_json{{"error", error}}.dump(-1, ' ', false, replace) + "\n");
  } else {
    say(fmt::format("dfcl: error: {}\n", core::to_message(details, style)));
  }
  return code;
}

// What was printed may still sit in a buffer: a full disk shows only now.
void flush_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!failed || errno == EPIPE) return;
  throw Error({.kind = ErrorKind::file,
               .what = "cannot write the results",
               .where = "standard output",
               .found = errno == 0 ? "a failed write" : std::strerror(errno)});
}

std::vector<std::string> flag_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  names.emplace_back("--help");
  return names;
}

// "min_roi" for "--min-roi", "predictions" for PREDICTIONS.
std::string field_of_option(const CLI::Option& option) {
  std::string field = option.get_lnames().empty() ? option.get_name(true) : option.get_lnames().front();
  std::transform(field.begin(), field.end(), field.begin(),
                 [](unsigned char letter) { return letter == '-' ? '_' : static_cast<char>(std::tolower(letter)); });
  return field.substr(0, field.find('|'));
}

// CLI11's messages as ours: the field, what is wrong with it, what was found.
ErrorDetails usage_details(const CLI::ParseError& error, const CLI::App& verb) {
  ErrorDetails details{.kind = ErrorKind::usage, .what = error.what()};
  const std::string unclear = "Could not convert: ";
  if (details.what.starts_with(unclear)) {
    details.what = details.what.substr(unclear.size());
    const std::size_t equals = details.what.find(" = ");
    if (equals != std::string::npos) details.found = fmt::format("'{}'", details.what.substr(equals + 3));
    details.what = details.what.substr(0, equals) + ": a value of the wrong kind";
  }
  std::size_t longest = 0;  // "--budget" begins "--budgets" too
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_name();
    if (name.size() < longest || !details.what.starts_with(name)) continue;
    longest = name.size();
    details.field = field_of_option(*option);
  }
  if (longest > 0) {
    details.what.erase(0, longest);
    details.what.erase(0, details.what.find_first_not_of(": "));
  }
  return details;
}

// CLI11 takes "" for a number or for no value at all.
void reject_empty(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    throw core::field_error(field_of_option(*option), "is empty");
  }
}

// CLI11 reads 010 as eight and takes what is beyond 64 bits for the largest number there is.
void reject_odd_numbers(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_whole = type.starts_with("INT") || type.starts_with("UINT");
    if (!is_whole && !type.starts_with("FLOAT")) continue;
    for (const std::string& text : option->results()) {
      std::int64_t whole = 0;
      double real = 0.0;
      const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
      const char* end = text.data() + text.size();
      const auto read = is_whole ? std::from_chars(begin, end, whole) : std::from_chars(begin, end, real);
      const std::size_t digit = text.find_first_not_of("+-");
      const bool has_zeros = is_whole && digit != std::string::npos && text[digit] == '0' && digit + 1 < text.size();
      if (read.ec == std::errc() && read.ptr == end && !has_zeros) continue;
      throw core::field_error(field_of_option(*option), "cannot read the number", fmt::format("'{}'", text),
                              is_whole ? "a whole number of 64 bits, without leading zeros" : "a number");
    }
  }
}

bool is_flag(const std::string& argument) { return argument.size() > 1 && argument.front() == '-'; }

}  // namespace

struct Session::Impl {
  struct Verb {
    CLI::App* app;
    std::string example;
    std::function<int(core::RunContext&)> action;
  };

  CLI::App program{
      "who gets which incentive under a budget, learned from a randomised trial\n"
      "A trial is a table: features of the units, the arm each unit got at random, what it earned and what it cost.\n"
      "A study file (TOML) says which column is which. Results go to standard output, messages to standard error."};
  std::map<std::string, Verb> verbs;
  KeyFlags key_flags;

  std::vector<std::string> verb_names() const {
    std::vector<std::string> names;
    for (const CLI::App* app : program.get_subcommands(nullptr)) names.push_back(app->get_name());
    return names;
  }

  // The verb on the command line, or null.
  const Verb* find_verb(const std::vector<std::string>& arguments) const {
    if (arguments.empty()) return nullptr;
    const auto found = verbs.find(arguments.front());
    return found == verbs.end() ? nullptr : &found->second;
  }

  // Throws where the command line does not begin with a verb.
  const Verb& require_verb(const std::vector<std::string>& arguments) const {
    if (const Verb* verb = find_verb(arguments)) return *verb;
    const std::string& first = arguments.front();
    if (!is_flag(first)) {
      throw Error({.kind = ErrorKind::usage,
                   .what = fmt::format("there is no verb '{}'", first),
                   .hint = core::suggest(first, verb_names())});
    }
    throw Error({.kind = ErrorKind::usage,
                 .what = fmt::format("unexpected option '{}' before the verb", first),
                 .hint = "options stand after the verb: dfcl VERB [options]; `dfcl -h` lists the verbs"});
  }

  // A mistyped flag is named before anything that follows from it, such as a missing argument.
  static void reject_unknown(const CLI::App& verb) {
    for (const std::string& argument : verb.remaining()) {
      if (argument == "--") continue;
      if (is_flag(argument)) {
        const std::string name = argument.substr(0, argument.find('='));
        const std::string nearest = core::nearest_name(name, flag_names(verb));
        throw Error({.kind = ErrorKind::usage,
                     .what = fmt::format("dfcl {} has no option '{}'", verb.get_name(), name),
                     .hint = nearest.empty() ? fmt::format("`dfcl {} -h` lists its options", verb.get_name())
                                             : fmt::format("did you mean '{}'?", nearest)});
      }
      throw Error({.kind = ErrorKind::usage,
                   .what = fmt::format("dfcl {}: one argument too many: '{}'", verb.get_name(), argument),
                   .hint = fmt::format("`dfcl {} -h` shows the usage", verb.get_name())});
    }
  }

  void parse(const Verb& verb, std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
      program.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      reject_unknown(*verb.app);
      reject_empty(*verb.app);
      ErrorDetails details = usage_details(error, *verb.app);
      details.hint = fmt::format("`dfcl {} -h` shows the usage", verb.app->get_name());
      throw Error(std::move(details));
    }
    reject_unknown(*verb.app);
    reject_empty(*verb.app);
    reject_odd_numbers(*verb.app);
  }
};

Session::Session() : impl_(std::make_unique<Impl>()) { impl_->program.set_help_flag(""); }
Session::~Session() = default;

CLI::App& Session::add_verb(const std::string& name, const std::string& summary, const std::string& example,
                            std::function<int(core::RunContext&)> action) {
  CLI::App& verb = *impl_->program.add_subcommand(name, summary);
  verb.set_help_flag("");
  verb.allow_extras();  // reject_unknown names them better
  verb.add_option("--threads", threads_,
                  "threads to use; 0 = all of the machine\nThe result is the same for any number.")
      ->group(kSharedGroup);
  verb.add_option("--seed", seed_, "seed of everything random\nThe same seed gives the same bytes. Default: 0.")
      ->group(kSharedGroup);
  verb.add_flag("--quiet", quiet_, "no progress and no warnings")->group(kSharedGroup);
  verb.add_flag("--full", full_, "the full output, not only the answer")->group(kSharedGroup);
  verb.add_flag("--overwrite", overwrite_, "let outputs replace files that exist")->group(kSharedGroup);
  verb.add_flag("--json", json_, "results, and errors, as JSON")->group(kSharedGroup);
  impl_->verbs[name] = {&verb, example, std::move(action)};
  return verb;
}

void say(const std::string& text) { (void)!std::fwrite(text.data(), 1, text.size(), stderr); }

void Session::show(const std::string& text) const { fmt::print("{}", full_ ? text : report::cut_to_screen(text)); }

int Session::run(int argc, char** argv) {
  occupy_standard_descriptors();
  install_signal_handlers();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto has = [&](const char* flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  const Impl::Verb* named = impl_->find_verb(arguments);
  const core::FieldStyle style = flag_style(named == nullptr ? nullptr : named->app, impl_->key_flags);
  const auto fail = [&](const ErrorDetails& details) { return report_error(details, style, has("--json")); };
  try {
    if (arguments.empty()) {
      say(program_help(impl_->program, HelpLength::brief));
      return static_cast<int>(ErrorKind::usage);
    }
    if (has("-h") || has("--help")) {
      const HelpLength length = has("--help") ? HelpLength::full : HelpLength::brief;
      const bool of_program = is_flag(arguments.front());
      const Impl::Verb* verb = of_program ? nullptr : &impl_->require_verb(arguments);
      fmt::print("{}", verb ? verb_help(*verb->app, verb->example, length) : program_help(impl_->program, length));
      flush_output();
      return 0;
    }
    if (arguments.front() == "--version") {
      fmt::print("dfcl {}\n", core::version());
      flush_output();
      return 0;
    }
    const Impl::Verb& verb = impl_->require_verb(arguments);
    impl_->parse(verb, arguments);

    int code = 0;
    {
      ProgressLine line(!quiet_ && isatty(STDERR_FILENO) == 1, !quiet_, style);
      core::RunContext context(core::checked_threads(threads_), core::checked_seed(seed_), &line, &stop_requested);
      context.may_overwrite = overwrite_;
      if (context.pool.threads() < threads_)
        context.warn(fmt::format("the system starts {} threads, not {}", context.pool.threads(), threads_));
      code = verb.action(context);
    }
    flush_output();
    return code;
  } catch (const Error& error) {
    return fail(error.details());
  } catch (const std::bad_alloc&) {
    return fail({.what = "out of memory", .hint = "use fewer rows or columns, or a machine with more memory"});
  } catch (const std::filesystem::filesystem_error& error) {
    return fail({.kind = ErrorKind::file, .what = error.what()});
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) return 0;  // the reader of our output went away
    // Standard output is all that is written without the library's own messages.
    const bool is_output = error.code().category() == std::generic_category() && std::ferror(stdout) != 0;
    return fail({.kind = is_output ? ErrorKind::file : ErrorKind::internal,
                 .what = is_output ? "cannot write the results" : error.what(),
                 .where = is_output ? "standard output" : "",
                 .found = is_output ? std::strerror(error.code().value()) : ""});
  } catch (const std::exception& error) {
    return fail({.what = fmt::format("unexpected: {}", error.what()), .hint = "this is a bug in dfcl"});
  }
}

void Session::add_key_flags(CLI::App& verb, std::vector<std::string>& settings) {
  cli::add_key_flags(verb, settings, impl_->key_flags);
}

}  // namespace dfcl::cli
