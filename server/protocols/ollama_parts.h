// Declarations shared by the files of Ollama's protocol. ollama.cpp has the table of routes and the vectors,
// ollama_models.cpp the requests about models.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "server/protocols/json_body.h"
#include "server/protocols/route.h"

namespace latebind::server::ollama {

// Returns false after refusing the request.
template <class Body, std::size_t N>
bool take_body(const ExchangePtr& exchange, const std::array<Member<Body>, N>& members, Body& body) {
  const auto refusal = read_body(exchange->request().body, members, body);
  if (refusal) refuse(*exchange, ollama_protocol(), *refusal);
  return !refusal;
}

// Finds a model by its name. Returns null after refusing the request.
[[nodiscard]] const ServedModel* find_model(const ExchangePtr& exchange, Service& service, std::string_view name);

void tags(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json tags_schema();
void running(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json running_schema();
void pull(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json pull_body();
[[nodiscard]] app::Json pull_schema();
void show(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json show_body();
[[nodiscard]] app::Json show_schema();
void version(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json version_schema();

}  // namespace latebind::server::ollama
