// Ollama's requests about models. As in Ollama, a model without a tag is listed with the tag ":latest".
#include <chrono>
#include <string>
#include <utility>

#include "core/text/utc_time.h"
#include "embedding/outputs/dense.h"
#include "server/protocols/ollama_parts.h"

namespace latebind::server::ollama {

using app::Json;

namespace {

constexpr std::string_view kLatest = ":latest";

struct ShowBody {
  std::string model;
};

struct PullBody {
  std::string model;
  bool stream = true;
};

template <class Body>
constexpr Member<Body> kOptionalModel{"model", false, [] { return typed_schema("string", "A served model."); },
                                      [](const Json& value, Body& body) { return read_text(value, body.model); }};

// The former name of `model`.
template <class Body>
constexpr Member<Body> kName{"name", false, [] { return typed_schema("string", "The model, if 'model' is missing."); },
                             [](const Json& value, Body& body) -> Problem {
                               std::string name;
                               if (auto problem = read_text(value, name)) return problem;
                               if (body.model.empty()) body.model = std::move(name);
                               return std::nullopt;
                             }};

constexpr std::array kShow{kOptionalModel<ShowBody>, kName<ShowBody>};

constexpr std::array kPull{
    kOptionalModel<PullBody>,
    kName<PullBody>,
    Member<PullBody>{"stream", false,
                     [] {
                       Json schema = typed_schema("boolean", "The answer has one line for each step.");
                       schema["default"] = true;
                       return schema;
                     },
                     [](const Json& value, PullBody& body) { return read_bool(value, body.stream); }},
};

std::string tagged(const std::string& name) {
  return name.find(':') == std::string::npos ? name + std::string(kLatest) : name;
}

Json details_of(const ServedModel& model) {
  Json details;
  details["parent_model"] = "";
  details["format"] = "latebind";
  details["family"] = "latebind";
  details["families"] = Json::array({"latebind"});
  details["parameter_size"] = "";
  details["quantization_level"] = std::string(core::word_of(model.attestation()->active.precision));
  return details;
}

Json capabilities_of(const ServedModel& model) {
  return model.gives(embedding::kDenseOutput.name) ? Json::array({"embedding"}) : Json::array();
}

// The entry of a model in lists.
Json entry_of(const ServedModel& model) {
  Json entry;
  entry["name"] = tagged(model.name);
  entry["model"] = tagged(model.name);
  entry["size"] = model.digest.bytes;
  entry["digest"] = model.digest.hex;
  entry["details"] = details_of(model);
  return entry;
}

// The schema of a list whose models also have this time.
Json models_schema(const char* time) {
  Json model = typed_schema("object", "");
  for (const char* name : {"name", "model", "digest", time})
    model["properties"][name] = typed_schema("string", "");
  model["properties"]["size"] = typed_schema("integer", "");
  model["properties"]["details"] = typed_schema("object", "");
  model["required"] = Json::array({"name", "model", "size", "digest", time});
  Json schema = typed_schema("object", "");
  schema["properties"]["models"] = typed_schema("array", "");
  schema["properties"]["models"]["items"] = std::move(model);
  schema["required"] = Json::array({"models"});
  return schema;
}

}  // namespace

const ServedModel* find_model(const ExchangePtr& exchange, Service& service, std::string_view name) {
  if (name.empty()) {
    refuse(*exchange, ollama_protocol(),
           {.kind = RefusalKind::kBadRequest, .message = "'model' is missing", .param = "model"});
    return nullptr;
  }
  const auto found = service.find(name);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    refuse(*exchange, ollama_protocol(), *refusal);
    return nullptr;
  }
  const ServedModel* const model = std::get<const ServedModel*>(found);
  exchange->note([&](RequestRecord& record) { record.model = model->name; });
  return model;
}

void tags(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  Json body;
  body["models"] = Json::array();
  for (const auto& model : service.models()) {
    Json one = entry_of(*model);
    one["modified_at"] = core::utc_text(model->loaded_at);
    one["capabilities"] = capabilities_of(*model);
    body["models"].push_back(std::move(one));
  }
  answer_json(*exchange, body);
}

// All models are loaded and stay loaded.
void running(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  constexpr std::chrono::hours kForever{24 * 365 * 100};
  Json body;
  body["models"] = Json::array();
  for (const auto& model : service.models()) {
    Json one = entry_of(*model);
    const core::ActiveConfig& active = model->attestation()->active;
    const bool is_cpu = active.device.empty() || active.device.starts_with("CPU");
    one["expires_at"] = core::utc_text(model->loaded_at + kForever);
    one["size_vram"] = is_cpu ? 0 : model->digest.bytes;
    one["context_length"] = model->texts() != nullptr ? model->texts()->max_tokens() : 0;
    body["models"].push_back(std::move(one));
  }
  answer_json(*exchange, body);
}

// Succeeds for a served model. Other models are not downloaded.
void pull(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  PullBody body;
  if (!take_body(exchange, kPull, body) || find_model(exchange, service, body.model) == nullptr) return;
  HttpResponse response;
  response.body = R"({"status":"success"})";
  if (body.stream) {
    response.content_type = "application/x-ndjson";
    response.body = R"({"status":"pulling manifest"})"
                    "\n" +
                    response.body + "\n";
  }
  exchange->answer(std::move(response));
}

void show(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  ShowBody body;
  if (!take_body(exchange, kShow, body)) return;
  const ServedModel* const model = find_model(exchange, service, body.model);
  if (model == nullptr) return;
  Json answer;
  answer["modelfile"] = "";
  answer["parameters"] = "";
  answer["template"] = "";
  answer["details"] = details_of(*model);
  answer["model_info"]["general.architecture"] = "latebind";
  if (const embedding::Embedder* const dense = model->encoder_of(embedding::kDenseOutput.name)) {
    answer["model_info"]["latebind.embedding_length"] = dense->dimension();
    answer["model_info"]["latebind.context_length"] = dense->max_tokens();
  }
  answer["capabilities"] = capabilities_of(*model);
  answer["modified_at"] = core::utc_text(model->loaded_at);
  answer_json(*exchange, answer);
}

void version(const ExchangePtr& exchange, const PathValues& /*values*/, Service& /*service*/) {
  Json body;
  body["version"] = LATEBIND_VERSION;
  answer_json(*exchange, body);
}

Json pull_body() {
  return schema_of(kPull);
}

Json show_body() {
  return schema_of(kShow);
}

Json tags_schema() {
  return models_schema("modified_at");
}

Json running_schema() {
  return models_schema("expires_at");
}

Json pull_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["status"] = typed_schema("string", "");
  schema["required"] = Json::array({"status"});
  return schema;
}

Json show_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["details"] = typed_schema("object", "");
  schema["properties"]["model_info"] = typed_schema("object", "");
  schema["properties"]["capabilities"] = typed_schema("array", "");
  schema["properties"]["capabilities"]["items"] = typed_schema("string", "");
  schema["required"] = Json::array({"details", "model_info", "capabilities"});
  return schema;
}

Json version_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["version"] = typed_schema("string", "Latebind's.");
  schema["required"] = Json::array({"version"});
  return schema;
}

}  // namespace latebind::server::ollama
