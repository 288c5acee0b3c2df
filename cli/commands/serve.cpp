// latebind serve: the daemon's command line, its start and its end. server/ has the rest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal/background_lines.h"
#include "cli/terminal/client.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/runtime_options.h"
#include "cli/terminal/shown_log.h"
#include "core/config.h"
#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/small_file.h"
#include "core/platform/freed_memory.h"
#include "core/platform/open_files.h"
#include "core/platform/process_end.h"
#include "core/platform/service_manager.h"
#include "core/platform/signal_watch.h"
#include "core/platform/system_info.h"
#include "core/platform/thread_nice.h"
#include "core/text/one_line.h"
#include "core/threads/mutex.h"
#include "server/load_model.h"
#include "server/server.h"

namespace latebind::cli {
namespace {

using core::Status;

struct ServeArguments {
  std::vector<std::string> models;
  std::string host;
  std::string port;
  SettingFlags flags{};
};

// Collects what signals request.
class SignalRequests {
 public:
  SignalRequests() {
    platform::set_signal_handler([this](platform::Signal signal) { return hear(signal); });
  }
  SignalRequests(const SignalRequests&) = delete;
  SignalRequests& operator=(const SignalRequests&) = delete;
  ~SignalRequests() { platform::set_signal_handler({}); }

  // From here on, a request to end waits for work in progress.
  void end_loading() {
    const core::MutexLock lock(mutex_);
    is_loading_ = false;
  }

  enum class Request { kNothing, kEnd, kReload };
  // Returns kNothing when the time is up.
  Request wait(std::chrono::microseconds time) {
    const core::MutexLock lock(mutex_);
    changed_.wait_for(mutex_, time, [this]() LB_REQUIRES(mutex_) { return ends_ || reloads_; });
    if (ends_) return Request::kEnd;
    return std::exchange(reloads_, false) ? Request::kReload : Request::kNothing;
  }

 private:
  bool hear(platform::Signal signal) {
    const core::MutexLock lock(mutex_);
    if (signal == platform::Signal::kHangup) {
      reloads_ = true;
    } else if (is_loading_ || std::exchange(ends_, true)) {
      // Nothing has been accepted yet, and compilation cannot be interrupted; a second signal ends the process at once
      // in any case.
      return false;
    }
    changed_.notify_all();
    return true;
  }

  core::Mutex mutex_;
  core::Condition changed_;
  bool is_loading_ LB_GUARDED_BY(mutex_) = true;
  bool ends_ LB_GUARDED_BY(mutex_) = false;
  bool reloads_ LB_GUARDED_BY(mutex_) = false;
};

// The file that lists the addresses, one per line. It appears when everything is ready and is removed at the end.
class ReadyFile {
 public:
  explicit ReadyFile(std::string file) : file_(std::move(file)) {}
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;
  ~ReadyFile() { remove(); }
  // Checks, before anything is loaded, that the file can be written.
  [[nodiscard]] Status check() const {
    return file_.empty() ? Status() : platform::OutputFile::create(platform::path_from_utf8(file_)).status();
  }
  // Removes an earlier daemon's file. Called once the addresses are bound, since until then that daemon may be running.
  void clear() const {
    const auto path = platform::path_from_utf8(file_);
    std::error_code ignored;
    if (!file_.empty() && std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  }
  Status write(const std::vector<std::string>& addresses) {
    if (file_.empty()) return {};
    LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(platform::path_from_utf8(file_)));
    std::string text;
    for (const std::string& address : addresses)
      text += address + "\n";
    LB_RETURN_IF_ERROR(file.write(text));
    LB_RETURN_IF_ERROR(file.commit_unsynced());
    written_ = std::move(text);
    return {};
  }
  void remove() {
    if (written_.empty()) return;
    // The file may belong to another daemon by now.
    const auto path = platform::path_from_utf8(file_);
    const auto text = platform::read_small_file(path, written_.size());
    std::error_code ignored;
    if (text.ok() && *text == written_) std::filesystem::remove(path, ignored);
    written_.clear();
  }

 private:
  const std::string file_;
  std::string written_;
};

// Finds the models and all their names.
core::Result<std::vector<server::FoundModel>> find_models(const std::vector<server::ModelArgument>& arguments,
                                                          const app::Runtime& runtime) {
  const bool quiet = runtime.settings.quiet;
  const TerminalClient terminal(quiet);
  std::vector<server::FoundModel> found;
  for (const server::ModelArgument& argument : arguments) {
    LB_ASSIGN_OR_RETURN(found.emplace_back(), server::find_model(argument, runtime, terminal.client()));
    const auto& [place, names, named_by, commit] = found.back();
    if (named_by.empty() || quiet) continue;
    note(fmt::format("{} is served as {}, as its {} calls it; --model NAME={} gives it another name",
                     core::one_line(names.given), core::one_line(names.name), named_by, core::one_line(names.given)));
  }
  return found;
}

Status add_aliases(const std::vector<std::string>& aliases, std::vector<server::FoundModel>& models) {
  std::vector<server::ModelNames> names;
  for (server::FoundModel& model : models)
    names.push_back(std::move(model.names));
  LB_RETURN_IF_ERROR(server::add_aliases(aliases, names));
  for (std::size_t i = 0; i < models.size(); ++i)
    models[i].names = std::move(names[i]);
  return {};
}

Status load_models(const std::vector<server::FoundModel>& models, const app::Runtime& runtime, server::Server& daemon) {
  const bool quiet = runtime.settings.quiet;
  for (const server::FoundModel& found : models) {
    LB_ASSIGN_OR_RETURN(auto model,
                        server::load_model(found, runtime, daemon.service().metrics(), runtime.settings.token_vectors));
    const auto attested = model->attestation();
    note_fallback(*attested);
    if (!quiet) {
      note(fmt::format("{} is ready in {:.2f} s on {}", core::one_line(model->name), model->load_seconds,
                       describe(attested->active)));
    }
    LB_RETURN_IF_ERROR(daemon.service().add(std::move(model)));
  }
  return {};
}

std::string listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts)
    list += (list.empty() ? "" : ", ") + text;
  return list;
}

// One run at a time on all processors answers a single text soonest and forms the largest batches. On many processors
// it no longer keeps them busy (docs/decisions/0041).
core::PerformanceHint hint_for_serving() {
  constexpr unsigned kFewProcessors = 8;
  return platform::usable_processors() <= kFewProcessors ? core::PerformanceHint::kLatency
                                                         : core::PerformanceHint::kThroughput;
}

// The level of the log. --verbose and --quiet apply until another level is chosen.
class ShownLevel {
 public:
  void choose(core::LogLevel level, server::Server& daemon) {
    if (level == shown_) return;
    shown_ = level;
    daemon.log_requests(level <= core::LogLevel::kInfo);
    show_log(level == core::LogLevel::kDebug   ? LogShown::kEverything
             : level == core::LogLevel::kError ? LogShown::kNothing
                                               : LogShown::kWarnings);
  }

 private:
  core::LogLevel shown_ = core::LogLevel::kInfo;
};

// Reloads keys, certificates and the log's level. Other settings are fixed at the start.
void reload(const ServeArguments& options, ShownLevel& shown, server::Server& daemon) {
  const auto reloaded = daemon.reload();
  note(reloaded.ok() ? "keys and certificates have been read again"
                     : "keys and certificates are unchanged: " + reloaded.to_string());
  if (const auto settings = options.flags.effective(); settings.ok()) {
    shown.choose(settings->values().log_level, daemon);
  } else {
    note("the log level is unchanged: " + settings.status().to_string());
  }
}

// Returns freed memory to the system now and then. Because shapes vary, live blocks lie between free ones, and the
// allocator would keep the free ones forever.
class FreedMemory {
 public:
  static constexpr std::chrono::seconds kPause{10};

  // Does nothing unless something was computed since the last call and enough time has passed.
  void give_back(const server::Metrics& metrics) {
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t batches = metrics.totals().batches;
    if (now - last_ < kPause || batches == batches_) return;
    batches_ = batches;
    const std::uint64_t before = platform::resident_bytes();
    platform::return_freed_memory();
    last_ = std::chrono::steady_clock::now();
    const std::uint64_t after = platform::resident_bytes();
    core::log(core::LogLevel::kDebug, fmt::format("returned {} KiB of free memory to the system in {:.1f} ms",
                                                  (before - std::min(before, after)) >> 10,
                                                  std::chrono::duration<double, std::milli>(last_ - now).count()));
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::uint64_t batches_ = 0;
};

// Runs until the daemon is asked to end.
void wait_for_the_end(const ServeArguments& options, SignalRequests& signal_requests, ShownLevel& shown,
                      platform::ServiceManager& manager, server::Server& daemon) {
  // A service manager with a watchdog expects two messages per interval.
  const auto interval = manager.watchdog_interval();
  const std::chrono::microseconds pause =
      std::min<std::chrono::microseconds>(interval.value_or(std::chrono::hours(1)) / 2, FreedMemory::kPause);
  FreedMemory freed;
  for (;;) {
    const auto request = signal_requests.wait(pause);
    if (request == SignalRequests::Request::kEnd) return;
    manager.watchdog();
    freed.give_back(daemon.service().metrics());
    if (request == SignalRequests::Request::kNothing) continue;
    manager.reloading();
    reload(options, shown, daemon);
    manager.ready("serving at " + listed(daemon.addresses()));
  }
}

// Adds the address given by --host and --port to --listen.
void add_address(ServeArguments& options) {
  if (options.host.empty() && options.port.empty()) return;
  const bool is_bare_ipv6 = std::ranges::count(options.host, ':') > 1 && !options.host.starts_with('[');
  const std::string host = options.host.empty() ? "127.0.0.1" : is_bare_ipv6 ? "[" + options.host + "]" : options.host;
  options.flags.add("server.listen", fmt::format("{}:{}", host, options.port.empty() ? "8080" : options.port),
                    options.host.empty() ? "--port" : "--host");
}

Exit serve(const ServeArguments& options) {
  // First, so that SIGHUP does not end the process.
  SignalRequests signal_requests;
  const HeldMessages messages;
  // Before other threads exist, because both remove what they read from the environment.
  const auto inherited = platform::inherited_sockets();
  if (!inherited.ok()) return fail(inherited.status());
  auto manager = platform::ServiceManager::from_environment([](const Status& status) { note(status.to_string()); });
  const auto runtime = make_runtime(options.flags, hint_for_serving());
  if (!runtime.ok()) return misuse("serve", runtime.status().message());
  const bool quiet = runtime->settings.quiet;
  // A daemon's warnings belong in its log.
  if (quiet && !core::log_enabled(core::LogLevel::kInfo)) show_log(LogShown::kWarnings);
  if (runtime->settings.log_json) print_messages_as_json();
  HeldMessages::release();
  std::vector<server::ModelArgument> arguments;
  const auto& models = options.models.empty() ? runtime->settings.models : options.models;
  if (models.empty()) {
    return misuse("serve", "no model is given: give MODEL or --model MODEL, or set LATEBIND_MODEL or server.models");
  }
  // Rejects invalid arguments before anything is opened.
  server::NameTable names;
  for (const std::string& text : models) {
    auto argument = server::ModelArgument::parse(text);
    if (!argument.ok()) return misuse("serve", argument.status().message());
    if (const auto added = names.add(server::names_of(*argument)); !added.ok()) return misuse("serve", added.message());
    arguments.push_back(*std::move(argument));
  }
  if (runtime->settings.listen.empty() && inherited->empty()) {
    return misuse("serve", "no address to listen at is given: give --port or --listen, or set server.listen");
  }
  if (const auto checked = server::Server::check(runtime->settings); !checked.ok()) {
    return misuse("serve", checked.message());
  }
  BackgroundLines lines;
  ReadyFile ready_file(runtime->settings.ready_file);
  if (const auto checked = ready_file.check(); !checked.ok()) return fail(checked);
  // One descriptor per connection, plus those of the models and the vendors.
  constexpr std::size_t kFilesBesides = 256;
  const std::size_t connections = runtime->settings.connections_max;
  if (const auto files = platform::allow_open_files(connections + kFilesBesides); files < connections + kFilesBesides) {
    note(fmt::format("warning: the system allows {} open files; {} connections may need {} (ulimit -n)", files,
                     connections, connections + kFilesBesides));
  }
  server::ServerOptions opening;
  opening.settings = runtime->settings;
  for (const platform::InheritedSocket& socket : *inherited)
    opening.inherited.push_back({.descriptor = socket.descriptor, .is_unix = socket.is_unix});
  opening.log = [&lines](std::string_view line) { lines.write(std::string(line) + "\n"); };
  if (runtime->load.cache != nullptr) {
    if (const auto folder = app::compile_cache_folder(runtime->settings); folder.ok()) {
      opening.cache_folder = platform::path_to_utf8(*folder);
    }
  }
  const auto opened = server::Server::open(std::move(opening));
  if (!opened.ok()) return fail(opened.status());
  server::Server& daemon = **opened;
  ready_file.clear();
  ShownLevel shown;
  shown.choose(runtime->settings.log_level, daemon);
  for (const std::string& warning : daemon.warnings())
    note("warning: " + warning);

  if (const auto started = daemon.start(); !started.ok()) return fail(started);
  manager.status("loading models");
  // The niceness applies to the threads that this thread creates from here on, which compute; the threads that answer
  // already exist.
  if (const int nice = runtime->settings.compute_nice; nice > 0) platform::make_way(platform::thread_nice() + nice);
  auto found = find_models(arguments, *runtime);
  if (!found.ok()) return fail(found.status());
  if (const auto named = add_aliases(runtime->settings.aliases, *found); !named.ok())
    return misuse("serve", named.message());
  if (const auto loaded = load_models(*found, *runtime, daemon); !loaded.ok()) return fail(loaded);
  signal_requests.end_loading();
  daemon.service().set_ready();
  if (const auto written = ready_file.write(daemon.addresses()); !written.ok()) return fail(written);
  if (!quiet) note("serving at " + listed(daemon.addresses()));

  manager.ready("serving at " + listed(daemon.addresses()));

  wait_for_the_end(options, signal_requests, shown, manager, daemon);
  manager.stopping();
  ready_file.remove();
  if (!quiet) note("shutting down: finishing accepted requests");
  // Neither a vendor's library nor an unread error stream may delay the end.
  constexpr std::chrono::seconds kForTheRest{15};
  platform::end_program_within(runtime->settings.drain_timeout + kForTheRest, static_cast<int>(Exit::kGood));
  if (!daemon.drain(runtime->settings.drain_timeout)) note("some requests were not finished before the drain timeout");
  return Exit::kGood;
}

}  // namespace

void add_serve(Command& program, Action& chosen) {
  auto options = std::make_shared<ServeArguments>();
  Command& app = *program.add_subcommand("serve", "Serves models over HTTP.");
  add_texts(app, kModelNames, options->models, "[NAME=]MODEL",
            "A sentence-transformers model (a folder, a bundle, or ORG/NAME on the Hugging Face hub) or a network for "
            "tensors (.onnx, .xml). May be given several times. Requests name it as it is named here, or by ORG/NAME "
            "or NAME alone; NAME= gives it that name instead. A request that names no model goes to the first one. "
            "Default: LATEBIND_MODEL, or server.models of config.toml.");
  app.add_option(
         "--host", options->host,
         "Address to listen at, with the port of --port; 0.0.0.0 is every address of this machine (default 127.0.0.1).")
      ->type_name("ADDRESS");
  app.add_option("--port", options->port,
                 "Port to listen at, on the address of --host; 0 takes a free port (default 8080).")
      ->type_name("N")
      ->check([](const std::string& port) { return core::parse_integer("--port", port, 0, 65535).status(); });
  static constexpr SettingGroup kGroups[] = {
      SettingGroup::kServer,   SettingGroup::kEmbedding, SettingGroup::kPlacement,    SettingGroup::kDevice,
      SettingGroup::kFailover, SettingGroup::kCache,     SettingGroup::kVerification, SettingGroup::kBackends};
  options->flags.add_to(app, kGroups);
  app.footer(
      "Speaks the protocols of OpenAI, text-embeddings-inference, KServe, Ollama and Cohere. A page at\n"
      "the address shows which device answers and how busy it is; /openapi.json lists every path.\n"
      "SIGTERM finishes accepted requests and exits with 0; a second SIGTERM, or one while models load,\n"
      "exits at once. SIGHUP reads keys, certificates and the log level again.\n"
      "\n"
      "Examples:\n"
      "  latebind serve sentence-transformers/all-MiniLM-L6-v2\n"
      "  latebind serve mini=./all-MiniLM-L6-v2 --host 0.0.0.0 --api-key-file keys.txt");
  app.callback([options, &chosen] {
    add_address(*options);
    chosen = [options] { return serve(*options); };
  });
}

}  // namespace latebind::cli
