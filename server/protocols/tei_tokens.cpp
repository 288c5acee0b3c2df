// text-embeddings-inference: tokenizes texts and decodes tokens.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/format_to.h"
#include "core/text/quote.h"
#include "server/protocols/tei_parts.h"

namespace latebind::server::tei {
namespace {

using app::Json;

struct TokenizeBody {
  std::vector<std::string> texts;
  TextLimit limit;
  bool add_special_tokens = true;
  std::optional<std::string> prompt_name;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
};

struct DecodeBody {
  std::vector<TokenIds> lists;
  TextLimit limit;
  bool skip_special_tokens = true;
};

Problem read_inputs(const Json& value, TokenizeBody& body) {
  return read_text_or_texts(value, body.limit, body.texts);
}

Problem read_lists(const Json& value, DecodeBody& body) {
  return read_id_lists(value, body.limit, body.lists);
}

Json texts_schema() {
  Json schema;
  schema["anyOf"] = Json::array({typed_schema("string", ""), list_schema(typed_schema("string", ""))});
  return schema;
}

Json ids_schema() {
  Json schema;
  schema["anyOf"] = Json::array({some_schema(id_schema()), some_schema(list_schema(id_schema()))});
  return schema;
}

Json special_schema(std::string_view about) {
  Json schema = typed_schema("boolean", about);
  schema["default"] = true;
  return schema;
}

constexpr std::array kTokenize{
    Member<TokenizeBody>{"inputs", true, texts_schema, read_inputs},
    Member<TokenizeBody>{
        "add_special_tokens", false, [] { return special_schema("Adds the special tokens that every text gets."); },
        [](const Json& value, TokenizeBody& body) { return read_bool(value, body.add_special_tokens); }},
    kPromptName<TokenizeBody>,
    kRole<TokenizeBody>,
};

constexpr std::array kDecode{
    Member<DecodeBody>{"ids", true, ids_schema, read_lists},
    Member<DecodeBody>{"skip_special_tokens", false, [] { return special_schema("Leaves out special tokens."); },
                       [](const Json& value, DecodeBody& body) { return read_bool(value, body.skip_special_tokens); }},
};

// Returns the model for this many items, or null after refusing the request.
const ServedModel* model_for(const ExchangePtr& exchange, Service& service, std::size_t items) {
  const auto found = service.find("");
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    refuse(*exchange, tei_protocol(), *refusal);
    return nullptr;
  }
  const ServedModel* const model = std::get<const ServedModel*>(found);
  exchange->note([&](RequestRecord& record) {
    record.model = model->name;
    record.texts = items;
  });
  if (model->texts() == nullptr) {
    refuse(*exchange, tei_protocol(),
           {.kind = RefusalKind::kUnsupported, .message = model->name + " has no tokenizer", .param = {}});
    return nullptr;
  }
  if (items > service.limits().texts_max) {
    refuse(*exchange, tei_protocol(),
           {.kind = RefusalKind::kTooManyTexts,
            .message = fmt::format("{} items in one request; at most {}", items, service.limits().texts_max),
            .param = {}});
    return nullptr;
  }
  return model;
}

void refuse_tokens(Exchange& exchange, const Service& service) {
  refuse(exchange, tei_protocol(),
         {.kind = RefusalKind::kTooLarge,
          .message = fmt::format("more than {} tokens in one request", service.limits().queue_tokens_max),
          .param = {}});
}

struct EncodedText {
  std::vector<std::int32_t> ids;
  std::vector<embedding::TokenOffsets> offsets;  // empty if the tokenizer does not provide them

  core::Status encode(const embedding::Tokenizer& tokenizer, std::string_view text, std::size_t max_tokens) {
    ids.clear();
    offsets.clear();
    if (!tokenizer.gives_offsets().ok()) return tokenizer.encode(text, max_tokens, ids);
    return tokenizer.encode_with_offsets(text, max_tokens, embedding::Tokenizer::Cut::kEnd, ids, offsets);
  }
};

// A token has the piece of text that it stands for, in bytes; a token without one has the vocabulary's piece.
void append_tokens(std::string& out, const embedding::Tokenizer& tokenizer, std::string_view text,
                   const EncodedText& encoded, bool with_special) {
  const std::size_t first = tokenizer.tokens_before();
  const std::size_t stop = encoded.ids.size() - tokenizer.tokens_after();
  out += '[';
  bool is_first = true;
  for (std::size_t i = with_special ? 0 : first; i < (with_special ? encoded.ids.size() : stop); ++i) {
    fmt::format_to(std::back_inserter(out), R"({}{{"id":{},"text":)", is_first ? "" : ",", encoded.ids[i]);
    const bool is_special = i < first || i >= stop;
    const bool has_place = !is_special && !encoded.offsets.empty();
    const embedding::TokenOffsets place = has_place ? encoded.offsets[i] : embedding::TokenOffsets{};
    core::append_json_string(out, has_place ? text.substr(place.begin, place.end - place.begin)
                                            : tokenizer.token(encoded.ids[i]).value_or(""));
    fmt::format_to(std::back_inserter(out), R"(,"special":{},)", is_special);
    if (has_place) {
      fmt::format_to(std::back_inserter(out), R"("start":{},"stop":{}}})", place.begin, place.end);
    } else {
      out += R"("start":null,"stop":null})";
    }
    is_first = false;
  }
  out += ']';
}

}  // namespace

void tokenize(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  TokenizeBody body;
  body.limit.most = service.limits().texts_max;
  if (!read_body(exchange, kTokenize, body)) return;
  const std::size_t count = body.limit.count_of(body.texts.size());
  if (count == 0) return refuse_empty(*exchange, "inputs");
  const ServedModel* const model = model_for(exchange, service, count);
  if (model == nullptr) return;
  const auto route = model->texts()->route_for(body.role);
  if (!route.ok()) return refuse(*exchange, tei_protocol(), refusal_of(route.status()));
  const auto prompt = (*route)->prompts().choose(prompt_choice(body.prompt_name), body.role);
  if (!prompt.ok()) return refuse(*exchange, tei_protocol(), refusal_of_prompt(*model, prompt.status()));
  const auto tokenizer = (*route)->tokenizer();
  const std::size_t around = tokenizer->tokens_before() + tokenizer->tokens_after();
  auto room = static_cast<std::size_t>(service.limits().queue_tokens_max);
  std::uint64_t tokens = 0;
  EncodedText encoded;
  HttpResponse response;
  response.body += '[';
  for (std::string& text : body.texts) {
    text.insert(0, *prompt);
    if (room < around) return refuse_tokens(*exchange, service);
    if (const core::Status status = encoded.encode(*tokenizer, text, room + 1); !status.ok()) {
      return refuse(*exchange, tei_protocol(), refusal_of(status));
    }
    if (encoded.ids.size() > room) return refuse_tokens(*exchange, service);
    room -= encoded.ids.size();
    tokens += encoded.ids.size();
    if (response.body.size() > 1) response.body += ',';
    append_tokens(response.body, *tokenizer, text, encoded, body.add_special_tokens);
  }
  response.body += ']';
  exchange->note([&](RequestRecord& record) { record.tokens = tokens; });
  exchange->answer(std::move(response));
}

void decode(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  DecodeBody body;
  body.limit.most = service.limits().texts_max;
  if (!read_body(exchange, kDecode, body)) return;
  const std::size_t count = body.limit.count_of(body.lists.size());
  if (count == 0) return refuse_empty(*exchange, "ids");
  const ServedModel* const model = model_for(exchange, service, count);
  if (model == nullptr) return;
  std::uint64_t tokens = 0;
  for (const auto& list : body.lists)
    tokens += list.size();
  if (tokens > service.limits().queue_tokens_max) return refuse_tokens(*exchange, service);
  const auto tokenizer = model->texts()->tokenizer();
  HttpResponse response;
  for (const auto& list : body.lists) {
    const auto text = tokenizer->decode(list, body.skip_special_tokens);
    if (!text.ok()) return refuse(*exchange, tei_protocol(), refusal_of(text.status()));
    response.body += response.body.empty() ? '[' : ',';
    core::append_json_string(response.body, *text);
  }
  response.body += ']';
  exchange->note([&](RequestRecord& record) { record.tokens = tokens; });
  exchange->answer(std::move(response));
}

Json tokenize_body() {
  return schema_of(kTokenize);
}

Json tokenize_answer() {
  Json token = typed_schema("object", "");
  token["properties"]["id"] = typed_schema("integer", "");
  token["properties"]["text"] =
      typed_schema("string", "The piece of the text; for a special token, its entry in the vocabulary.");
  token["properties"]["special"] = typed_schema("boolean", "Whether the token is added to every text.");
  for (const char* place : {"start", "stop"}) {
    token["properties"][place]["type"] = Json::array({"integer", "null"});
    token["properties"][place]["description"] =
        "In bytes of the text, including its prompt. Null for special tokens, or if the tokenizer does not report it.";
  }
  token["required"] = Json::array({"id", "text", "special", "start", "stop"});
  return list_schema(list_schema(std::move(token)), "The tokens of each text.");
}

Json decode_body() {
  return schema_of(kDecode);
}

Json decode_answer() {
  return list_schema(typed_schema("string", ""), "One text for each list of ids.");
}

}  // namespace latebind::server::tei
