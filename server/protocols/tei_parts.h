// Declarations shared by the files of text-embeddings-inference's protocol. tei.cpp has the table; the other files have
// the handlers of routes with bodies.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "server/protocols/json_body.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/text_members.h"

namespace latebind::server::tei {

// Refuse an empty list, and a body that is not JSON, with 400 as the original does. Other mistakes are 422.
void refuse_empty(Exchange& exchange, std::string_view member);
void refuse_no_json(Exchange& exchange, const Refusal& refusal);

// Returns false after refusing the request.
template <class Body, std::size_t N>
[[nodiscard]] bool read_body(const ExchangePtr& exchange, const std::array<Member<Body>, N>& members, Body& body) {
  Json json;
  if (const auto refusal = parse_body(exchange->request().body, json)) {
    refuse_no_json(*exchange, *refusal);
    return false;
  }
  if (const auto refusal = read_members(json, members, body)) {
    refuse(*exchange, tei_protocol(), *refusal);
    return false;
  }
  return true;
}

// Returns a callback for the service. It answers with text_of(vectors), or with the refusal.
template <class TextOf>
[[nodiscard]] std::function<void(Outcome<Vectors>)> answering(const ExchangePtr& exchange, TextOf text_of) {
  return [exchange, text_of = std::move(text_of)](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, tei_protocol(), *refusal);
    answer_text(*exchange, text_of(std::get<Vectors>(outcome)));
  };
}

[[nodiscard]] app::Json list_schema(app::Json item, std::string_view about = {});
[[nodiscard]] app::Json some_schema(app::Json item);  // a list with at least one element
[[nodiscard]] app::Json id_schema();

// Members that several bodies share.
template <class Body>
constexpr Member<Body> kTruncate{
    "truncate", false,
    [] {
      return typed_schema("boolean",
                          "Whether longer texts are cut (true) or refused (false) (default: the server's setting).");
    },
    [](const Json& value, Body& body) { return read_bool(value, body.truncate.emplace()); }};

template <class Body>
constexpr Member<Body> kDirection{"truncation_direction", false,
                                  [] {
                                    app::Json schema = typed_schema("string", "The end at which a longer text is cut.");
                                    schema["enum"] = app::Json::array({"left", "right", "Left", "Right"});
                                    schema["default"] = "right";
                                    return schema;
                                  },
                                  [](const Json& value, Body& body) -> Problem {
                                    std::string side;
                                    static_cast<void>(read_text(value, side));
                                    body.keep_end = side == "left" || side == "Left";
                                    if (!body.keep_end && side != "right" && side != "Right") {
                                      return "must be left or right";
                                    }
                                    return std::nullopt;
                                  }};

// The path without a name, which clients use that know only the server's address: what it does follows from the body
// and the first model.
void answer_root(const ExchangePtr& exchange, const PathValues& values, Service& service);
void embed(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json embed_body();
[[nodiscard]] app::Json embed_answer();
void embed_all(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json embed_all_body();
[[nodiscard]] app::Json embed_all_answer();
void similarity(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json similarity_body();
[[nodiscard]] app::Json similarity_answer();
void rerank(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json rerank_body();
[[nodiscard]] app::Json rerank_answer();
void predict(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json predict_body();
[[nodiscard]] app::Json predict_answer();
void embed_sparse(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json embed_sparse_body();
[[nodiscard]] app::Json embed_sparse_answer();
void tokenize(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json tokenize_body();
[[nodiscard]] app::Json tokenize_answer();
void decode(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json decode_body();
[[nodiscard]] app::Json decode_answer();

}  // namespace latebind::server::tei
