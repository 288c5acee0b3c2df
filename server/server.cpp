#include "server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/platform/system_info.h"
#include "server/server_state.h"

namespace latebind::server {

using core::Result;
using core::Status;
using core::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kLastWait{5000};
// The share of processor time for refusing requests under overload.
constexpr double kRefusingShare = 0.25;

}  // namespace

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Status Server::check(const app::Settings& settings) {
  if (settings.tls_certificate.empty() != settings.tls_key.empty()) {
    return Status(StatusCode::kInvalidArgument, "TLS needs both --tls-cert and --tls-key");
  }
  for (const std::string& text : settings.listen)
    LB_RETURN_IF_ERROR(ListenAddress::parse(text).status());
  for (const std::string& origin : settings.cors_origins)
    LB_RETURN_IF_ERROR(check_origin(origin));
  if (!settings.otlp_endpoint.empty()) return TraceExporter::check(settings.otlp_endpoint);
  return {};
}

Result<std::unique_ptr<Server>> Server::open(ServerOptions options) {
  const app::Settings& settings = options.settings;
  LB_RETURN_IF_ERROR(check(settings));
  TransportOptions transport;
  for (const InheritedListener& one : options.inherited) {
    ListenAddress address;
    address.inherited = one.descriptor;
    address.inherited_is_unix = one.is_unix;
    transport.listen.push_back(std::move(address));
  }
  if (options.inherited.empty()) {
    if (settings.listen.empty()) return Status(StatusCode::kInvalidArgument, "no address to listen at is given");
    for (const std::string& text : settings.listen) {
      LB_ASSIGN_OR_RETURN(transport.listen.emplace_back(), ListenAddress::parse(text));
    }
  }
  transport.tls_certificate = settings.tls_certificate;
  transport.tls_key = settings.tls_key;
  transport.connections_max = settings.connections_max;
  // A larger body could never be held, so it is refused with 413 rather than 429, which suggests a retry.
  transport.body_bytes_max = std::min(settings.body_bytes_max, settings.held_bytes_max);
  transport.held_bytes_max = settings.held_bytes_max;
  transport.large_nice = settings.compute_nice;
  transport.refusing_processors = kRefusingShare * platform::usable_processors();

  auto state = std::make_unique<State>(std::move(options));
  State* const raw = state.get();
  LB_ASSIGN_OR_RETURN(auto keys, state->access.load_keys());
  state->access.use(std::move(keys));
  if (!raw->options.settings.otlp_endpoint.empty()) {
    LB_ASSIGN_OR_RETURN(state->traces, TraceExporter::create(raw->options.settings.otlp_endpoint, LATEBIND_VERSION));
  }
  ServiceLimits limits;
  limits.texts_max = raw->options.settings.texts_max;
  limits.queue_tokens_max = raw->options.settings.queue_tokens_max;
  limits.queue_runs_max = raw->options.settings.queue_runs_max;
  limits.auto_truncate = raw->options.settings.auto_truncate;
  limits.strict_requests = raw->options.settings.strict_requests;
  limits.allow_dimensions = raw->options.settings.allow_dimensions;
  state->service = std::make_unique<Service>(limits, [raw](std::function<void()> work, bool is_large) {
    if (is_large) return raw->http->post_large(std::move(work));
    raw->http->post(std::move(work));
  });
  HttpServer::Calls calls;
  calls.handler = [raw](const ExchangePtr& exchange) { raw->handle(exchange); };
  calls.screen = [raw](const HttpRequest& head) { return raw->screen(head); };
  calls.is_probe = [raw](const HttpRequest& head) {
    const Router::Match match = raw->router.find(head.method, head.segments);
    return match.route != nullptr && match.route->is_probe;
  };
  calls.refuse = [raw](const Refusal& refusal, unsigned status, const HttpRequest* head) {
    return raw->refuse_early(refusal, status, head);
  };
  calls.on_time = [raw](steady_clock::time_point now) { return raw->deadlines.end_late(now); };
  LB_ASSIGN_OR_RETURN(state->http, HttpServer::open(transport, std::move(calls)));
  ServerFacts facts;
  facts.addresses = state->http->addresses();
  facts.connections = [raw] { return raw->http->connections(); };
  facts.wants_key = state->access.wants_key();
  facts.held_bytes = [raw] { return raw->http->held_bytes(); };
  facts.held_bytes_max = transport.held_bytes_max;
  facts.connections_max = transport.connections_max;
  facts.body_bytes_max = transport.body_bytes_max;
  facts.request_timeout_ms = raw->options.settings.request_timeout.count();
  facts.cache_folder = raw->options.cache_folder;
  facts.cache_bytes_max = raw->options.settings.cache_bytes_max;
  state->service->set_facts(std::move(facts));
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  state_->http->stop();
  // Running computations use the models and pass on their results. If a vendor's call hangs, the state is leaked, since
  // the process is about to end.
  if (!state_->service->wait_until_idle(steady_clock::now() + kLastWait)) static_cast<void>(state_.release());
}

std::vector<std::string> Server::warnings() const {
  std::vector<std::string> warnings;
  const app::Settings& settings = state_->options.settings;
  if (state_->access.wants_key() || !state_->options.inherited.empty()) return warnings;
  for (const std::string& text : settings.listen) {
    const auto address = ListenAddress::parse(text);
    if (address.ok() && !address->is_local()) {
      warnings.push_back(fmt::format(
          "{} can be reached from other machines without a key: set --api-key-file or LATEBIND_API_KEY to require one",
          text));
    }
  }
  return warnings;
}

const std::vector<std::string>& Server::addresses() const {
  return state_->http->addresses();
}

Status Server::start() {
  return state_->http->start();
}

Service& Server::service() {
  return *state_->service;
}

Status Server::reload() {
  // Both are reloaded, or neither.
  LB_ASSIGN_OR_RETURN(auto keys, state_->access.load_keys());
  LB_RETURN_IF_ERROR(state_->http->reload_tls());
  state_->access.use(std::move(keys));
  return {};
}

void Server::log_requests(bool wanted) {
  state_->logs_requests.store(wanted, std::memory_order_relaxed);
}

bool Server::drain(milliseconds time) {
  state_->service->set_ending();
  state_->http->stop_accepting();
  // A connection with a written answer may still wait for its client to see the end.
  return state_->http->wait_until_idle(steady_clock::now() + time) || state_->http->requests_at_work() == 0;
}

}  // namespace latebind::server
