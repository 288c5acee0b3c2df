// What the files of text-embeddings-inference's protocol share: tei.cpp has the table, tei_vectors.cpp and
// tei_tokens.cpp the handlers with bodies.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "server/protocols/json_body.h"
#include "server/protocols/route.h"

namespace latebind::server::tei {

// The original's answer to a list without an item, and to what is no JSON at all: 400, where other mistakes are 422.
void refuse_empty(Exchange& exchange, std::string_view member);
void refuse_no_json(Exchange& exchange, const Refusal& refusal);

// False where it has refused.
template <class Body, std::size_t N>
[[nodiscard]] bool read_body(const ExchangePtr& exchange, const std::array<Member<Body>, N>& members, Body& body) {
  JsonBody json;
  if (const auto refusal = json.parse(exchange->request().body)) {
    refuse_no_json(*exchange, *refusal);
    return false;
  }
  if (const auto refusal = read_members(json.root(), members, body)) {
    refuse(*exchange, tei_protocol(), *refusal);
    return false;
  }
  return true;
}

// "must be …" for ids that are no ids. They are checked against the vocabulary later.
[[nodiscard]] Problem read_ids(const simdjson::dom::array& numbers, std::vector<std::int32_t>& ids);

[[nodiscard]] app::Json list_schema(app::Json item, std::string_view about = {});
[[nodiscard]] app::Json some_schema(app::Json item);  // a list with at least one
[[nodiscard]] app::Json id_schema();
[[nodiscard]] app::Json prompt_name_schema();

void embed(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json embed_body();
[[nodiscard]] app::Json embed_answer();
void embed_all(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json embed_all_body();
[[nodiscard]] app::Json embed_all_answer();
void similarity(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json similarity_body();
[[nodiscard]] app::Json similarity_answer();
void tokenize(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json tokenize_body();
[[nodiscard]] app::Json tokenize_answer();
void decode(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json decode_body();
[[nodiscard]] app::Json decode_answer();

}  // namespace latebind::server::tei
