// A protocol's routes, as a table from which requests are dispatched and the OpenAPI document is built.
//
// A protocol is one file with one table. It translates requests to calls of the Service and their outcomes to answers.
// It does not depend on sockets, models or other protocols.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_text.h"
#include "server/exchange.h"
#include "server/refusal.h"
#include "server/service.h"

namespace latebind::server {

// The values of the {names} in a route's path, in order.
using PathValues = std::vector<std::string>;

// The OpenAPI description of an answer.
struct AnswerDoc {
  unsigned status = 200;
  std::string_view description;
  std::string_view content_type = "application/json";
  app::Json (*schema)() = nullptr;  // null: any content
};

struct Route {
  std::string_view method;  // "POST"
  std::string_view path;    // "/v2/models/{model}/infer"; a {name} is one segment
  // Answers the exchange, now or later. May only throw std::bad_alloc.
  void (*handle)(const ExchangePtr& exchange, const PathValues& values, Service& service);
  std::string_view summary;
  // The schema of the JSON body; null if there is no body.
  app::Json (*body)() = nullptr;
  // The successful answers. The protocol describes those of refusals.
  std::vector<AnswerDoc> answers{};
  // Answered without a key, and before the models are loaded.
  bool is_open = false;
  // A liveness or readiness check. It is answered above the limit of connections, too. Open, and answered at once.
  bool is_probe = false;
};

struct Protocol {
  std::string_view name;   // "openai"
  std::string_view about;  // a sentence for the OpenAPI document
  std::span<const Route> (*routes)();
  // Formats a refusal: status, body and headers.
  HttpResponse (*refuse)(const Refusal& refusal);
  // The schema of such a body.
  app::Json (*refusal_schema)();
};

// Answer 200 with JSON, as text or as a value.
void answer_text(Exchange& exchange, std::string json);
void answer_json(Exchange& exchange, const app::Json& json);

// Adds what a refusal has besides its body.
void add_rest_of(const Refusal& refusal, HttpResponse& response);

// Answers with a refusal in the form of `protocol` and records its kind.
void refuse(Exchange& exchange, const Protocol& protocol, const Refusal& refusal);

[[nodiscard]] const Protocol& openai_protocol();
[[nodiscard]] const Protocol& tei_protocol();
[[nodiscard]] const Protocol& kserve_protocol();
[[nodiscard]] const Protocol& ollama_protocol();
[[nodiscard]] const Protocol& rerank_protocol();
[[nodiscard]] const Protocol& cohere_protocol();
[[nodiscard]] const Protocol& score_protocol();
// Latebind's paths: status, metrics, page, the OpenAPI document.
[[nodiscard]] const Protocol& own_protocol();

// All protocols.
[[nodiscard]] std::span<const Protocol* const> protocols();

}  // namespace latebind::server
