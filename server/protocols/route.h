// Routes: what a protocol answers, as a table from which requests are dispatched and the OpenAPI document is made.
//
// A protocol is one file with one table. It translates a request to calls of the Service and their outcome to its own
// answer, and knows nothing of sockets, models or other protocols.
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

// Values of the {names} in a route's path, in their order.
using PathValues = std::vector<std::string>;

// What OpenAPI says of an answer.
struct AnswerDoc {
  unsigned status = 200;
  std::string_view description;
  std::string_view content_type = "application/json";
  app::Json (*schema)() = nullptr;  // null: any
};

struct Route {
  std::string_view method;  // "POST"
  std::string_view path;    // "/v2/models/{model}/infer"; a {name} is one segment
  // Answers the exchange, now or later. May throw std::bad_alloc only.
  void (*handle)(const ExchangePtr& exchange, const PathValues& values, Service& service);
  std::string_view summary;
  // Schema of the JSON body; null: there is none.
  app::Json (*body)() = nullptr;
  // The good answers; those of refusals are the protocol's.
  std::vector<AnswerDoc> answers{};
  // Answered before models are loaded, and without a key.
  bool is_open = false;
  // How somebody finds out whether the server lives or is ready: answered above the limit of connections, too. Open,
  // and answered at once.
  bool is_probe = false;
};

struct Protocol {
  std::string_view name;   // "openai"
  std::string_view about;  // a sentence for the document
  std::span<const Route> (*routes)();
  // A refusal in the protocol's words: status, body and headers.
  HttpResponse (*refuse)(const Refusal& refusal);
  // Schema of such a body.
  app::Json (*refusal_schema)();
};

// Answers with 200 and this JSON, written already or not.
void answer_text(Exchange& exchange, std::string json);
void answer_json(Exchange& exchange, const app::Json& json);

// What a refusal has beside its body.
void add_rest_of(const Refusal& refusal, HttpResponse& response);

// Answers in the words of `protocol`, and puts the reason into the record.
void refuse(Exchange& exchange, const Protocol& protocol, const Refusal& refusal);

[[nodiscard]] const Protocol& openai_protocol();
[[nodiscard]] const Protocol& tei_protocol();
[[nodiscard]] const Protocol& kserve_protocol();
[[nodiscard]] const Protocol& ollama_protocol();
[[nodiscard]] const Protocol& rerank_protocol();
[[nodiscard]] const Protocol& cohere_protocol();
[[nodiscard]] const Protocol& score_protocol();
// Latebind's own paths: status, metrics, page, the OpenAPI document.
[[nodiscard]] const Protocol& own_protocol();

// All of them.
[[nodiscard]] std::span<const Protocol* const> protocols();

}  // namespace latebind::server
