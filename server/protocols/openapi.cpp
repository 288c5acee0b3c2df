#include "server/protocols/openapi.h"

#include <array>
#include <string>
#include <utility>

#include "core/text/ascii.h"
#include "server/protocols/route.h"

namespace latebind::server {
namespace {

using app::Json;

// Refusals that any route may return, and those of routes that are not open.
constexpr std::array kOfAll{RefusalKind::kBadRequest, RefusalKind::kInternal};
constexpr std::array kOfClosed{RefusalKind::kUnauthorized, RefusalKind::kNotReady};
constexpr std::array kOfValues{RefusalKind::kNoModel};
constexpr std::array kOfBodies{RefusalKind::kNoModel,    RefusalKind::kTooLarge,  RefusalKind::kTooManyTexts,
                               RefusalKind::kTooLong,    RefusalKind::kMediaType, RefusalKind::kUnsupported,
                               RefusalKind::kOverloaded, RefusalKind::kDevice,    RefusalKind::kFallback,
                               RefusalKind::kTimeout};

void add_refusals(Json& responses, const Protocol& protocol, std::span<const RefusalKind> kinds) {
  for (const RefusalKind kind : kinds) {
    const std::string status = std::to_string(protocol.refuse({.kind = kind, .message = {}, .param = {}}).status);
    if (responses.contains(status)) continue;
    responses[status]["description"] = "Refused: " + std::string(word_of(kind)) + ".";
    responses[status]["content"]["application/json"]["schema"]["$ref"] =
        "#/components/schemas/" + std::string(protocol.name) + "_error";
  }
}

Json operation_of(const Protocol& protocol, const Route& route) {
  Json operation;
  operation["summary"] = std::string(route.summary);
  operation["tags"] = Json::array({std::string(protocol.name)});
  if (route.is_open) operation["security"] = Json::array();
  for (std::size_t at = route.path.find('{'); at != std::string_view::npos; at = route.path.find('{', at + 1)) {
    Json parameter;
    parameter["name"] = std::string(route.path.substr(at + 1, route.path.find('}', at) - at - 1));
    parameter["in"] = "path";
    parameter["required"] = true;
    parameter["schema"]["type"] = "string";
    parameter["schema"]["minLength"] = 1;
    operation["parameters"].push_back(std::move(parameter));
  }
  if (route.body != nullptr) {
    operation["requestBody"]["required"] = true;
    operation["requestBody"]["content"]["application/json"]["schema"] = route.body();
  }
  Json& responses = operation["responses"];
  for (const AnswerDoc& answer : route.answers) {
    Json& one = responses[std::to_string(answer.status)];
    one["description"] = std::string(answer.description);
    if (!answer.content_type.empty()) {
      one["content"][std::string(answer.content_type)]["schema"] =
          answer.schema != nullptr ? answer.schema() : Json::object();
    }
  }
  add_refusals(responses, protocol, kOfAll);
  if (!route.is_open) add_refusals(responses, protocol, kOfClosed);
  if (route.path.find('{') != std::string_view::npos) add_refusals(responses, protocol, kOfValues);
  if (route.body != nullptr) add_refusals(responses, protocol, kOfBodies);
  return operation;
}

}  // namespace

Json openapi_document() {
  Json document;
  document["openapi"] = "3.1.0";
  document["info"]["title"] = "Latebind";
  document["info"]["version"] = LATEBIND_VERSION;
  document["info"]["description"] = "Embeds texts on any available device, through several protocols.";
  Json& schemes = document["components"]["securitySchemes"];
  schemes["bearer"]["type"] = "http";
  schemes["bearer"]["scheme"] = "bearer";
  document["security"] = Json::array({Json::object({{"bearer", Json::array()}}), Json::object()});
  for (const Protocol* protocol : protocols()) {
    Json tag;
    tag["name"] = std::string(protocol->name);
    tag["description"] = std::string(protocol->about);
    document["tags"].push_back(std::move(tag));
    document["components"]["schemas"][std::string(protocol->name) + "_error"] = protocol->refusal_schema();
    for (const Route& route : protocol->routes()) {
      document["paths"][std::string(route.path)][core::ascii_lowered(route.method)] = operation_of(*protocol, route);
    }
  }
  return document;
}

}  // namespace latebind::server
