// Server::State: what a server consists of, and what happens to one request. Private to server.cpp, which puts it
// together, and server_requests.cpp, which answers.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "server/access.h"
#include "server/deadlines.h"
#include "server/observe/request_log.h"
#include "server/observe/traces.h"
#include "server/router.h"
#include "server/server.h"
#include "server/transport/http_server.h"

namespace latebind::server {

struct Server::State {
  static constexpr unsigned kLogLinesPerSecond = 200;

  explicit State(ServerOptions given)
      : options(std::move(given)),
        access(options.settings.api_key, options.settings.api_key_file, options.settings.cors_origins),
        log(options.settings.log_json ? LogFormat::kJson : LogFormat::kText, kLogLinesPerSecond, options.log) {}

  void handle(const ExchangePtr& exchange);
  void route(const ExchangePtr& exchange, const Router::Match& match);
  static void begin_record(RequestRecord& record, const HttpRequest& request, const Router::Match& match);
  void before_answer(const Exchange& exchange, HttpResponse& response);
  void add_origin(const HttpRequest& request, HttpResponse& response) const;
  void observe(const RequestRecord& record);
  [[nodiscard]] HttpResponse refuse_early(const Refusal& refusal, std::optional<unsigned> status,
                                          const HttpRequest* head);
  [[nodiscard]] static Refusal unauthorized(std::string_view why);
  [[nodiscard]] std::optional<HttpResponse> screen(const HttpRequest& head);
  void preflight(const ExchangePtr& exchange, const Router::Match& match) const;
  [[nodiscard]] core::Result<std::chrono::milliseconds> time_of(const HttpRequest& request) const;

  ServerOptions options;
  Access access;
  const Router router;
  RequestLog log;
  std::atomic<bool> logs_requests = true;
  std::unique_ptr<TraceExporter> traces;  // null: no traces are exported
  Deadlines deadlines;
  // Destroyed after the server's threads have ended.
  std::unique_ptr<Service> service;

  std::unique_ptr<HttpServer> http;
};

}  // namespace latebind::server
