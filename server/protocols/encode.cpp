#include "server/protocols/encode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/format_to.h"
#include "core/text/quote.h"
#include "server/protocols/role_member.h"
#include "server/protocols/text_members.h"
#include "server/protocols/usage.h"

namespace latebind::server::own {
namespace {

using app::Json;

struct EncodeBody {
  std::string model;
  TextsOrIds inputs;
  TextLimit limit;
  std::vector<std::string> outputs;
  std::optional<bool> truncate;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
};

Problem read_outputs(const Json& value, EncodeBody& body) {
  // Far more than there are.
  TextLimit limit{.most = 64};
  if (auto problem = read_texts(value, limit, body.outputs)) return problem;
  if (limit.count_of(body.outputs.size()) == 0) return "must not be empty";
  if (limit.too_many > 0) return "has too many names";
  for (auto name = body.outputs.begin(); name != body.outputs.end(); ++name) {
    if (std::find(body.outputs.begin(), name, *name) != name) return "has " + core::quoted(*name, 40) + " twice";
  }
  return std::nullopt;
}

Json inputs_schema() {
  Json ids = typed_schema("array", "");
  ids["items"] = typed_schema("integer", "");
  Json lists = typed_schema("array", "");
  lists["items"] = ids;
  Json texts = typed_schema("array", "");
  texts["items"] = typed_schema("string", "");
  Json schema;
  schema["description"] = "One text or several, or their token ids, including special tokens.";
  schema["anyOf"] = Json::array({typed_schema("string", ""), std::move(texts), std::move(ids), std::move(lists)});
  return schema;
}

constexpr std::array kEncode{
    Member<EncodeBody>{
        "model", false,
        [] { return typed_schema("string", "A served model (default: the first one with the outputs)."); },
        [](const Json& value, EncodeBody& body) { return read_text(value, body.model); }},
    Member<EncodeBody>{
        "inputs", true, inputs_schema,
        [](const Json& value, EncodeBody& body) { return read_texts_or_ids(value, body.limit, body.inputs); }},
    Member<EncodeBody>{"outputs", true,
                       [] {
                         Json schema = typed_schema("array", "Names of outputs; /latebind/status lists a model's.");
                         schema["items"] = typed_schema("string", "");
                         schema["minItems"] = 1;
                         return schema;
                       },
                       read_outputs},
    Member<EncodeBody>{
        "truncate", false,
        [] { return typed_schema("boolean", "Whether longer texts are cut (default: the server's setting)."); },
        [](const Json& value, EncodeBody& body) { return read_bool(value, body.truncate.emplace()); }},
    kPromptName<EncodeBody>,
    kTask<EncodeBody>,
    kRole<EncodeBody>,
};

// Appends the result of one text. Each form of results has its own JSON.
struct AppendText {
  std::string& text;
  std::size_t i;

  void operator()(const embedding::Rows& rows) const {
    append_numbers(text, std::span(rows.numbers).subspan(i * rows.dimension, rows.dimension));
  }
  void operator()(const embedding::SparseRows& rows) const {
    const embedding::SparseVector& vector = rows.vectors[i];
    text += R"({"indices":[)";
    for (std::size_t k = 0; k < vector.indices.size(); ++k)
      fmt::format_to(std::back_inserter(text), "{}{}", k > 0 ? "," : "", vector.indices[k]);
    text += R"(],"values":)";
    append_numbers(text, vector.values);
    text += '}';
  }
  void operator()(const embedding::RaggedRows& rows) const {
    text += '[';
    const auto all = rows.of(i);
    for (std::size_t at = 0; at < all.size(); at += rows.dimension) {
      if (at > 0) text += ',';
      append_numbers(text, all.subspan(at, rows.dimension));
    }
    text += ']';
  }
};

std::string results_text(const Vectors& vectors, const std::vector<std::string>& outputs) {
  std::string text = R"({"model":)";
  core::append_json_string(text, vectors.model->name);
  text += R"(,"results":[)";
  for (std::size_t i = 0; i < vectors.count(); ++i) {
    fmt::format_to(std::back_inserter(text), R"({}{{"index":{})", i > 0 ? "," : "", i);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      text += ',';
      core::append_json_string(text, outputs[k]);
      text += ':';
      std::visit(AppendText{text, i}, vectors.results[k]);
    }
    text += '}';
  }
  return text + R"(],"usage":)" + usage_text(vectors) + '}';
}

}  // namespace

void encode(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EncodeBody body;
  body.limit.most = service.limits().texts_max;
  if (const auto refusal = read_body(exchange->request().body, kEncode, body))
    return refuse(*exchange, own_protocol(), *refusal);
  const std::size_t read = std::visit([](const auto& inputs) { return inputs.size(); }, body.inputs);
  if (body.limit.count_of(read) == 0) {
    return refuse(*exchange, own_protocol(),
                  {.kind = RefusalKind::kBadRequest, .message = "'inputs' must not be empty", .param = "inputs"});
  }
  VectorCall call;
  call.model = std::move(body.model);
  call.names.list = "inputs";
  call.texts = std::move(body.inputs);
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.normalize = false;
  call.role = body.role;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  call.outputs = body.outputs;
  service.embed(exchange, std::move(call), [exchange, outputs = std::move(body.outputs)](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, own_protocol(), *refusal);
    HttpResponse response;
    response.body = results_text(std::get<Vectors>(outcome), outputs);
    exchange->answer(std::move(response));
  });
}

Json encode_body() {
  return schema_of(kEncode);
}

Json encode_answer() {
  Json result = typed_schema("object",
                             "A member for each output, by its name: numbers for a row, {indices, values} for a sparse "
                             "row, a list of rows for vectors of tokens.");
  result["properties"]["index"] = typed_schema("integer", "The text's position.");
  result["required"] = Json::array({"index"});
  Json schema = typed_schema("object", "");
  schema["properties"]["model"] = typed_schema("string", "");
  schema["properties"]["results"] = typed_schema("array", "In the order of the texts.");
  schema["properties"]["results"]["items"] = std::move(result);
  schema["properties"]["usage"] = usage_schema();
  schema["required"] = Json::array({"model", "results", "usage"});
  return schema;
}

}  // namespace latebind::server::own
