// Latebind's own paths: its state for people, programs and Prometheus, and any outputs of a model.
#include <string>
#include <utility>

#include "server/page/page.h"
#include "server/protocols/encode.h"
#include "server/protocols/json_body.h"
#include "server/protocols/openapi.h"
#include "server/protocols/route.h"
#include "server/protocols/status.h"

namespace latebind::server {
namespace own {
namespace {

using app::Json;

// On a server with keys, the page shows nothing and asks for a key.
void page(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.body = render_page(service.facts().wants_key ? Json::object({{"wants_key", true}}) : status_json(service));
  response.set("Content-Security-Policy", std::string(page_policy()));
  response.set("Cache-Control", "no-store");
  exchange->answer(std::move(response));
}

void status(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  HttpResponse response;
  response.body = app::to_line(status_json(service));
  response.set("Cache-Control", "no-store");
  exchange->answer(std::move(response));
}

void metrics(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = service.metrics().render(gauges_of(service));
  exchange->answer(std::move(response));
}

void openapi(const ExchangePtr& exchange, const PathValues& /*values*/, Service& /*service*/) {
  static const std::string& document = *new std::string(app::to_line(openapi_document()));
  answer_text(*exchange, document);
}

HttpResponse answer_of(const Refusal& refusal) {
  HttpResponse response;
  response.status = status_of(refusal.kind);
  Json body;
  body["error"] = refusal.message;
  body["error_type"] = std::string(word_of(refusal.kind));
  response.body = app::to_line(body);
  return response;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["error"] = typed_schema("string", "For people.");
  schema["properties"]["error_type"] = typed_schema("string", "For programs.");
  schema["required"] = Json::array({"error", "error_type"});
  return schema;
}

Json object_schema() {
  return typed_schema("object", "");
}
Json text_schema() {
  return typed_schema("string", "");
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>{
      {.method = "GET",
       .path = "/",
       .handle = page,
       .summary = "The server's page.",
       .answers = {{.status = 200, .description = "HTML.", .content_type = "text/html", .schema = text_schema}},
       .is_open = true},
      {.method = "GET",
       .path = "/latebind/status",
       .handle = status,
       .summary = "The active devices and why they were chosen, the queue, the rates of the last seconds and the "
                  "latencies of the last minute.",
       .answers = {{.status = 200, .description = "The status.", .schema = object_schema}}},
      {.method = "POST",
       .path = "/latebind/encode",
       .handle = encode,
       .summary = "Returns any outputs of a model for texts, all of one pass.",
       .body = encode_body,
       .answers = {{.status = 200, .description = "The results.", .schema = encode_answer}}},
      {.method = "GET",
       .path = "/metrics",
       .handle = metrics,
       .summary = "Metrics for Prometheus.",
       .answers =
           {{.status = 200, .description = "Text format 0.0.4.", .content_type = "text/plain", .schema = text_schema}},
       .is_open = true},
      {.method = "GET",
       .path = "/openapi.json",
       .handle = openapi,
       .summary = "This document.",
       .answers = {{.status = 200, .description = "OpenAPI 3.1.", .schema = object_schema}},
       .is_open = true}};
  return all;
}

}  // namespace
}  // namespace own

const Protocol& own_protocol() {
  static constexpr Protocol kProtocol{.name = "latebind",
                                      .about = "The server's state, and any outputs of a model.",
                                      .routes = own::routes,
                                      .refuse = own::answer_of,
                                      .refusal_schema = own::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
