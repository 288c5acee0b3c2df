#include "server/transport/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <exception>
#include <unordered_map>
#include <utility>

#include "core/log.h"
#include "core/platform/thread.h"
#include "core/platform/thread_nice.h"
#include "core/platform/thread_slice.h"
#include "core/threads/mutex.h"
#include "server/held_bytes.h"
#include "server/transport/http_session.h"
#include "server/transport/listener.h"
#include "server/transport/tls.h"

namespace latebind::server {

namespace asio = boost::asio;
using boost::system::error_code;
using core::Status;
using core::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// The least time between two checks of deadlines.
constexpr milliseconds kRest{20};
// The delay after a check that ran out of memory.
constexpr milliseconds kLookAgain{100};
// The delay after an accept that failed for lack of descriptors or memory.
constexpr milliseconds kAcceptPause{200};

}  // namespace

struct HttpServer::State {
  explicit State(const TransportOptions& options)
      : io(static_cast<int>(options.threads)),
        alarm(io, kRest, [this](steady_clock::time_point now) { return run_due_work(now); }) {
    shared.alarm = &alarm;
  }

  Status bind(const ListenAddress& address);
  void accept(Listener& listener);
  void accept_last(Listener& listener);
  void end_accepting(Listener& listener);
  void take(Stream::Socket socket, bool is_tcp);
  [[nodiscard]] steady_clock::time_point run_due_work(steady_clock::time_point now);
  static void run(asio::io_context& of);
  void post_to(asio::io_context& to, std::function<void()> work);
  [[nodiscard]] std::vector<std::shared_ptr<HttpSession>> all_sessions();

  // Declared before the members that destroy sessions, which use it.
  HttpSession::Shared shared;
  HttpServer::OnTime on_time;
  core::Mutex mutex;
  core::Condition idle;
  std::shared_ptr<const TlsContext> tls LB_GUARDED_BY(mutex);  // null: no TLS
  std::unordered_map<HttpSession*, std::weak_ptr<HttpSession>> sessions LB_GUARDED_BY(mutex);
  // Connections above the limit, in the order of arrival.
  std::vector<HttpSession*> beyond LB_GUARDED_BY(mutex);
  std::size_t accepting LB_GUARDED_BY(mutex) = 0;  // number of listeners that accept
  bool is_over LB_GUARDED_BY(mutex) = false;       // no thread runs posted functions any more

  asio::io_context io;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<std::string> addresses;
  Alarm alarm;
  std::vector<platform::Thread> threads;
  asio::io_context large;  // for longer work
  asio::executor_work_guard<asio::io_context::executor_type> large_work{large.get_executor()};
  bool is_stopped = false;
};

Status HttpServer::State::bind(const ListenAddress& address) {
  auto listener = std::make_unique<Listener>(io);
  LB_RETURN_IF_ERROR(listener->bind(address, shared.options.tls_certificate.empty() ? "http" : "https"));
  addresses.push_back(listener->name);
  listeners.push_back(std::move(listener));
  return {};
}

// Runs on the listener's strand.
void HttpServer::State::accept(Listener& listener) {
  if (shared.is_ending.load()) return end_accepting(listener);
  listener.acceptor.async_accept(
      asio::make_strand(io), [this, &listener](const error_code& error, Stream::Socket socket) {
        if (!error) {
          take(std::move(socket), listener.is_tcp);
        } else if (!shared.is_ending.load()) {
          core::log(core::LogLevel::kWarning, fmt::format("cannot accept a connection: {}", error.message()));
          listener.pause.expires_after(kAcceptPause);
          listener.pause.async_wait([this, &listener](const error_code&) { accept(listener); });
          return;
        }
        accept(listener);
      });
}

// Accepts the connections that are already waiting, because their clients may have sent requests.
void HttpServer::State::accept_last(Listener& listener) {
  error_code error;
  listener.acceptor.non_blocking(true, error);
  while (!error) {
    Stream::Socket socket(asio::make_strand(io));
    listener.acceptor.accept(socket, error);
    if (!error) take(std::move(socket), listener.is_tcp);
  }
}

// Accepts the waiting connections and closes the listener.
void HttpServer::State::end_accepting(Listener& listener) {
  if (!listener.acceptor.is_open()) return;
  accept_last(listener);
  listener.close();
  const core::MutexLock lock(mutex);
  if (--accepting == 0) idle.notify_all();
}

void HttpServer::State::take(Stream::Socket socket, bool is_tcp) try {
  error_code ignored;
  if (is_tcp) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  std::shared_ptr<const TlsContext> context;
  {
    const core::MutexLock lock(mutex);
    if (is_tcp) context = tls;
  }
  auto stream = context != nullptr ? context->stream(std::move(socket)) : plain_stream(std::move(socket));
  const auto session = std::make_shared<HttpSession>(std::move(stream), shared);
  const std::size_t places = shared.options.connections_beyond;
  bool is_beyond = false;
  std::shared_ptr<HttpSession> in_the_way;
  {
    const core::MutexLock lock(mutex);
    is_beyond = sessions.size() - beyond.size() >= shared.options.connections_max;
    if (is_beyond) beyond.push_back(session.get());
    sessions.emplace(session.get(), session);
    // The oldest connection above the limit makes way for the next one, so that a probe always finds a place.
    if (beyond.size() > places) in_the_way = sessions[beyond[beyond.size() - places - 1]].lock();
    // Connections arrive faster than they can be closed.
    if (beyond.size() > 2 * places) in_the_way = session;
  }
  if (!is_beyond) return session->start();
  if (in_the_way != nullptr) in_the_way->abort();
  if (in_the_way != session) session->start_beyond_limit();
} catch (const std::exception& failure) {
  core::log(core::LogLevel::kWarning, fmt::format("a connection was dropped: {}", failure.what()));
}

std::vector<std::shared_ptr<HttpSession>> HttpServer::State::all_sessions() {
  std::vector<std::shared_ptr<HttpSession>> all;
  const core::MutexLock lock(mutex);
  all.reserve(sessions.size());
  for (const auto& [address, weak] : sessions) {
    if (auto session = weak.lock()) all.push_back(std::move(session));
  }
  return all;
}

// Does what is due at `now` and returns when the next thing is due.
steady_clock::time_point HttpServer::State::run_due_work(steady_clock::time_point now) {
  try {
    auto next = on_time ? on_time(now) : steady_clock::time_point::max();
    for (const auto& session : all_sessions())
      next = std::min(next, session->check_time(now));
    return next;
  } catch (const std::bad_alloc&) {
    return now + kLookAgain;
  }
}

void HttpServer::State::run(asio::io_context& of) {
  for (;;) {
    try {
      of.run();
      return;
    } catch (const std::exception& failure) {
      core::log(core::LogLevel::kError, fmt::format("the server continues after an error: {}", failure.what()));
    }
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

core::Result<std::unique_ptr<HttpServer>> HttpServer::open(const TransportOptions& options, Calls calls) try {
  auto state = std::make_unique<State>(options);
  state->shared.options = options;
  state->shared.handler = std::move(calls.handler);
  state->shared.screen = std::move(calls.screen);
  state->shared.is_probe = std::move(calls.is_probe);
  state->shared.refuse = std::move(calls.refuse);
  state->on_time = std::move(calls.on_time);
  state->shared.held = std::make_shared<HeldBytes>(options.held_bytes_max);
  state->shared.pace = std::make_unique<RefusalPace>(options.refusing_processors);
  state->shared.on_end = [raw = state.get()](HttpSession* session) {
    const core::MutexLock lock(raw->mutex);
    raw->sessions.erase(session);
    std::erase(raw->beyond, session);
    if (raw->sessions.empty()) raw->idle.notify_all();
  };
  if (!options.tls_certificate.empty()) {
    LB_ASSIGN_OR_RETURN(auto context, TlsContext::create(options.tls_certificate, options.tls_key));
    const core::MutexLock lock(state->mutex);
    state->tls = std::move(context);
  }
  for (const ListenAddress& address : options.listen)
    LB_RETURN_IF_ERROR(state->bind(address));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
} catch (const boost::system::system_error& failure) {
  return Status(StatusCode::kIo,
                fmt::format("the system is out of resources: {} (`ulimit -n` shows how many files may be open)",
                            failure.code().message()));
}

HttpServer::~HttpServer() {
  stop();
}

const std::vector<std::string>& HttpServer::addresses() const {
  return state_->addresses;
}

Status HttpServer::start() {
  {
    const core::MutexLock lock(state_->mutex);
    state_->accepting = state_->listeners.size();
  }
  for (const auto& listener : state_->listeners)
    asio::post(listener->strand, [state = state_.get(), raw = listener.get()] { state->accept(*raw); });
  try {
    for (unsigned i = 0; i < state_->shared.options.threads; ++i) {
      state_->threads.emplace_back([state = state_.get()] {
        platform::prefer_short_slices();  // since other threads compute
        State::run(state->io);
      });
      state_->threads.emplace_back([state = state_.get()] {
        if (const int nice = state->shared.options.large_nice; nice > 0)
          platform::make_way(platform::thread_nice() + nice);
        State::run(state->large);
      });
    }
  } catch (const std::exception& failure) {
    stop();
    return Status(StatusCode::kOutOfMemory, fmt::format("cannot start a thread: {}", failure.what()));
  }
  return {};
}

void HttpServer::State::post_to(asio::io_context& to, std::function<void()> work) {
  {
    const core::MutexLock lock(mutex);
    if (!is_over) {
      asio::post(to, std::move(work));
      return;
    }
  }
  work();
}

void HttpServer::post(std::function<void()> work) {
  state_->post_to(state_->io, std::move(work));
}

void HttpServer::post_large(std::function<void()> work) {
  state_->post_to(state_->large, std::move(work));
}

void HttpServer::wake_by(steady_clock::time_point time) {
  state_->alarm.ring_by(time);
}

Status HttpServer::reload_tls() {
  const TransportOptions& options = state_->shared.options;
  if (options.tls_certificate.empty()) return {};
  LB_ASSIGN_OR_RETURN(auto context, TlsContext::create(options.tls_certificate, options.tls_key));
  const core::MutexLock lock(state_->mutex);
  state_->tls = std::move(context);
  return {};
}

void HttpServer::stop_accepting() {
  state_->shared.is_ending.store(true);
  for (const auto& listener : state_->listeners) {
    asio::post(listener->strand, [raw = listener.get()] {
      error_code ignored;
      raw->acceptor.cancel(ignored);
      raw->pause.cancel();
    });
  }
  asio::post(state_->io, [state = state_.get()] {
    for (const auto& session : state->all_sessions())
      session->end_when_idle();
  });
}

bool HttpServer::wait_until_idle(steady_clock::time_point until) {
  const core::MutexLock lock(state_->mutex);
  return state_->idle.wait_until(state_->mutex, until, [this]() LB_REQUIRES(state_->mutex) {
    return state_->sessions.empty() && (state_->accepting == 0 || !state_->shared.is_ending.load());
  });
}

void HttpServer::stop() {
  if (std::exchange(state_->is_stopped, true)) return;
  stop_accepting();
  const auto until = steady_clock::now() + milliseconds(state_->threads.empty() ? 0 : 1000);
  // Connections may just have been accepted.
  do {
    for (const auto& session : state_->all_sessions())
      session->abort();
  } while (!wait_until_idle(std::min(until, steady_clock::now() + milliseconds(20))) && steady_clock::now() < until);
  state_->large.stop();
  state_->io.stop();
  for (platform::Thread& thread : state_->threads)
    thread.join();
  state_->threads.clear();
  {
    const core::MutexLock lock(state_->mutex);
    state_->is_over = true;
  }
  // Runs what was posted, so that no caller waits in vain.
  state_->alarm.stop();
  for (asio::io_context* context : {&state_->io, &state_->large}) {
    context->restart();
    context->poll();
  }
  for (const auto& listener : state_->listeners)
    listener->close();
}

std::size_t HttpServer::requests_at_work() const {
  const auto all = state_->all_sessions();
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& one) { return one->is_at_work(); }));
}

std::uint64_t HttpServer::held_bytes() const {
  return state_->shared.held->used();
}

std::size_t HttpServer::connections() const {
  const core::MutexLock lock(state_->mutex);
  return state_->sessions.size();
}

}  // namespace latebind::server
