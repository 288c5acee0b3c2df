// Cohere's embeddings, for clients of both API versions: https://docs.cohere.com/reference/embed. rerank.cpp has
// reranking, which other protocols share. Accepts only texts and does not return them.
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text/base64.h"
#include "core/text/counted.h"
#include "core/text/format_to.h"
#include "server/protocols/json_body.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/text_members.h"

namespace latebind::server {
namespace cohere {
namespace {

using app::Json;

constexpr std::size_t kDimensionsMax = std::size_t{1} << 20;
constexpr std::size_t kBitsOfByte = 8;

// An encoding of vectors and the function that writes it.
struct Form {
  std::string_view name;
  void (*append)(std::string& out, std::span<const float> row);
};

void append_as_base64(std::string& out, std::span<const float> row) {
  out += '"';
  const auto bytes = std::as_bytes(row);
  core::append_base64(out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  out += '"';
}

// Packs the signs into bytes, eight per byte, the first one in the highest bit. Bytes are written from 0 or from -128.
template <int Least>
void append_signs(std::string& out, std::span<const float> row) {
  for (std::size_t begin = 0; begin < row.size(); begin += kBitsOfByte) {
    int byte = 0;
    for (std::size_t bit = 0; bit < kBitsOfByte; ++bit)
      byte = byte * 2 + (begin + bit < row.size() && row[begin + bit] > 0 ? 1 : 0);
    fmt::format_to(std::back_inserter(out), "{}{}", begin > 0 ? ',' : '[', byte + Least);
  }
  out += ']';
}

constexpr std::array kForms{
    Form{"float", append_numbers},
    Form{"base64", append_as_base64},
    Form{"binary", append_signs<-128>},
    Form{"ubinary", append_signs<0>},
};

struct EmbedBody {
  std::string model;
  std::vector<std::string> texts;
  TextLimit limit;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::string_view purpose{};
  std::optional<bool> truncate = true;
  bool keep_end = false;
  std::size_t dimensions = 0;
  std::vector<const Form*> forms;
  bool has_forms = false;
};

template <std::size_t N>
Json words_schema(std::string_view about, const std::array<std::string_view, N>& words) {
  Json schema = typed_schema("string", about);
  schema["enum"] = Json::array();
  for (const std::string_view word : words)
    schema["enum"].push_back(std::string(word));
  return schema;
}

constexpr std::array<std::string_view, 4> kInputTypes{"search_query", "search_document", "classification",
                                                      "clustering"};
constexpr std::array<std::string_view, 3> kCuts{"NONE", "START", "END"};

Problem read_input_type(const Json& value, EmbedBody& body) {
  std::string word;
  static_cast<void>(read_text(value, word));
  if (word == "image") return "must not be image: this server does not embed images";
  const auto* const known = std::ranges::find(kInputTypes, word);
  if (known == kInputTypes.end()) return "must be search_query, search_document, classification or clustering";
  if (*known == "search_query") {
    body.role = embedding::TextRole::kQuery;
  } else if (*known == "search_document") {
    body.role = embedding::TextRole::kDocument;
  } else {
    body.purpose = *known;
  }
  return std::nullopt;
}

Problem read_truncate(const Json& value, EmbedBody& body) {
  std::string word;
  static_cast<void>(read_text(value, word));
  if (std::ranges::find(kCuts, word) == kCuts.end()) return "must be NONE, START or END";
  body.truncate = word != "NONE";
  body.keep_end = word == "START";
  return std::nullopt;
}

Problem read_forms(const Json& value, EmbedBody& body) {
  constexpr std::string_view kKnown = "must be an array of float, base64, binary and ubinary";
  if (!value.is_array()) return std::string(kKnown);
  for (const Json& item : value) {
    std::string name;
    static_cast<void>(read_text(item, name));
    const auto form = std::ranges::find(kForms, name, &Form::name);
    if (form == kForms.end()) {
      return std::string(kKnown) + (name == "int8" || name == "uint8"
                                        ? ": int8 and uint8 need value ranges, which models' files do not have"
                                        : "");
    }
    if (std::ranges::find(body.forms, &*form) == body.forms.end()) body.forms.push_back(&*form);
  }
  body.has_forms = !body.forms.empty();
  return std::nullopt;
}

Json forms_schema() {
  Json schema = typed_schema("array", "Formats of the vectors (default: float).");
  schema["items"] = typed_schema("string", "");
  schema["items"]["enum"] = Json::array();
  for (const Form& form : kForms)
    schema["items"]["enum"].push_back(std::string(form.name));
  return schema;
}

constexpr std::array kEmbed{
    Member<EmbedBody>{"model", false, [] { return typed_schema("string", "A served model (default: the first one)."); },
                      [](const Json& value, EmbedBody& body) { return read_text(value, body.model); }},
    Member<EmbedBody>{"texts", true,
                      [] {
                        Json schema = typed_schema("array", "");
                        schema["items"] = typed_schema("string", "");
                        schema["minItems"] = 1;
                        return schema;
                      },
                      [](const Json& value, EmbedBody& body) { return read_texts(value, body.limit, body.texts); }},
    Member<EmbedBody>{"input_type", false,
                      [] {
                        return words_schema(
                            "search_query and search_document select a role, the others the model's task or prompt "
                            "with this name, if it has one.",
                            kInputTypes);
                      },
                      read_input_type},
    Member<EmbedBody>{"truncate", false,
                      [] { return words_schema("Which end of a longer text is cut; NONE makes it an error.", kCuts); },
                      read_truncate},
    Member<EmbedBody>{
        "output_dimension", false,
        [] {
          Json schema = typed_schema("integer", "Keeps this many numbers of each vector, normalised again.");
          schema["minimum"] = 1;
          return schema;
        },
        [](const Json& value, EmbedBody& body) { return read_size(value, 1, kDimensionsMax, body.dimensions); }},
    Member<EmbedBody>{"embedding_types", false, forms_schema, read_forms},
};

HttpResponse answer_of(const Refusal& refusal) {
  HttpResponse response;
  response.status = refusal.kind == RefusalKind::kTooManyTexts ? 400 : status_of(refusal.kind);
  Json body;
  body["message"] = refusal.message;
  response.body = app::to_line(body);
  return response;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["message"] = typed_schema("string", "For people.");
  schema["required"] = Json::array({"message"});
  return schema;
}

void append_rows(std::string& text, const Vectors& vectors, const Form& form) {
  text += '[';
  for (std::size_t i = 0; i < vectors.count(); ++i) {
    if (i > 0) text += ',';
    form.append(text, vectors.row(i));
  }
  text += ']';
}

// Version 1 returns bare floats unless an encoding was requested.
std::string embed_text(const Vectors& vectors, std::span<const Form* const> forms, std::string_view id,
                       std::string_view version) {
  std::string text;
  text.reserve(vectors.count() * vectors.dimension() * 14 + 256);
  text += R"({"id":)";
  core::append_json_string(text, id);
  text += R"(,"response_type":)";
  if (forms.empty()) {
    text += R"("embeddings_floats","texts":[],"embeddings":)";
    append_rows(text, vectors, kForms.front());
  } else {
    text += R"("embeddings_by_type","embeddings":{)";
    for (const Form* const form : forms) {
      fmt::format_to(std::back_inserter(text), R"({}"{}":)", text.back() == '{' ? "" : ",", form->name);
      append_rows(text, vectors, *form);
    }
    text += '}';
  }
  fmt::format_to(std::back_inserter(text),
                 R"(,"meta":{{"api_version":{{"version":"{}"}},"billed_units":{{"input_tokens":{}}})", version,
                 vectors.tokens);
  if (vectors.truncated_texts > 0) {
    fmt::format_to(std::back_inserter(text), R"(,"warnings":["{} cut to what the model takes"])",
                   core::counted(vectors.truncated_texts, "text"));
  }
  return text + "}}";
}

void embed(const ExchangePtr& exchange, Service& service, bool is_first_version) {
  EmbedBody body;
  body.limit.most = service.limits().texts_max;
  if (const auto refusal = read_body(exchange->request().body, kEmbed, body))
    return refuse(*exchange, cohere_protocol(), *refusal);
  if (body.limit.count_of(body.texts.size()) == 0) {
    return refuse(*exchange, cohere_protocol(),
                  {.kind = RefusalKind::kBadRequest, .message = "'texts' must not be empty", .param = "texts"});
  }
  if (!body.has_forms && !is_first_version) body.forms.push_back(&kForms.front());
  VectorCall call;
  call.model = std::move(body.model);
  call.texts = std::move(body.texts);
  call.too_many = body.limit.too_many;
  call.dimensions = body.dimensions;
  call.truncate = body.truncate;
  call.keep_end = body.keep_end;
  call.role = body.role;
  call.purpose = body.purpose;
  service.embed(
      exchange, std::move(call), [exchange, forms = std::move(body.forms), is_first_version](Outcome<Vectors> outcome) {
        if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, cohere_protocol(), *refusal);
        answer_text(*exchange,
                    embed_text(std::get<Vectors>(outcome), forms, exchange->record().id, is_first_version ? "1" : "2"));
      });
}

Json embed_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["id"] = typed_schema("string", "");
  schema["properties"]["response_type"] = typed_schema("string", "");
  schema["properties"]["embeddings"]["anyOf"] =
      Json::array({typed_schema("object", "The vectors, by format."), typed_schema("array", "Floats alone.")});
  schema["properties"]["meta"] = typed_schema("object", "");
  schema["required"] = Json::array({"id", "response_type", "embeddings", "meta"});
  return schema;
}

std::span<const Route> routes() {
  static const auto& all =
      *new std::vector<Route>{{.method = "POST",
                               .path = "/v2/embed",
                               .handle = [](const ExchangePtr& exchange, const PathValues& /*values*/,
                                            Service& service) { embed(exchange, service, /*is_first_version=*/false); },
                               .summary = "Embeds texts.",
                               .body = [] { return schema_of(kEmbed); },
                               .answers = {{.status = 200, .description = "The vectors.", .schema = embed_schema}}},
                              {.method = "POST",
                               .path = "/v1/embed",
                               .handle = [](const ExchangePtr& exchange, const PathValues& /*values*/,
                                            Service& service) { embed(exchange, service, /*is_first_version=*/true); },
                               .summary = "Embeds texts.",
                               .body = [] { return schema_of(kEmbed); },
                               .answers = {{.status = 200, .description = "The vectors.", .schema = embed_schema}}}};
  return all;
}

}  // namespace
}  // namespace cohere

const Protocol& cohere_protocol() {
  static constexpr Protocol kProtocol{.name = "cohere",
                                      .about = "Cohere's embeddings.",
                                      .routes = cohere::routes,
                                      .refuse = cohere::answer_of,
                                      .refusal_schema = cohere::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
