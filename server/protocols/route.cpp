#include "server/protocols/route.h"

#include <array>
#include <utility>

namespace latebind::server {

void answer_text(Exchange& exchange, std::string json) {
  HttpResponse response;
  response.body = std::move(json);
  exchange.answer(std::move(response));
}

void answer_json(Exchange& exchange, const app::Json& json) {
  answer_text(exchange, app::to_line(json));
}

void add_rest_of(const Refusal& refusal, HttpResponse& response) {
  response.is_paced = refusal.kind == RefusalKind::kOverloaded;
  if (refusal.retry_after_s > 0) response.set("Retry-After", std::to_string(refusal.retry_after_s));
  if (refusal.kind == RefusalKind::kUnauthorized) response.set("WWW-Authenticate", "Bearer");
}

void refuse(Exchange& exchange, const Protocol& protocol, const Refusal& refusal) {
  HttpResponse response = protocol.refuse(refusal);
  add_rest_of(refusal, response);
  exchange.answer(std::move(response), word_of(refusal.kind));
}

std::span<const Protocol* const> protocols() {
  // An unknown path is refused in the form of the last protocol with a path that begins alike.
  static const std::array all{&rerank_protocol(), &cohere_protocol(), &score_protocol(),  &openai_protocol(),
                              &tei_protocol(),    &kserve_protocol(), &ollama_protocol(), &own_protocol()};
  return all;
}

}  // namespace latebind::server
