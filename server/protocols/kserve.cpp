// KServe's Open Inference Protocol, version 2, over HTTP, with Triton's binary tensor data extension and the index of
// its model repository: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
//
// kserve_texts.h has the models that take texts.
#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "core/text/quote.h"
#include "server/protocols/json_body.h"
#include "server/protocols/kserve_answer.h"
#include "server/protocols/kserve_request.h"
#include "server/protocols/kserve_schemas.h"
#include "server/protocols/kserve_texts.h"
#include "server/protocols/kserve_types.h"
#include "server/protocols/route.h"

namespace latebind::server {
namespace kserve {
namespace {

using app::Json;

// The only version of every model.
constexpr std::string_view kVersion = "1";

HttpResponse answer_of(const Refusal& refusal) {
  HttpResponse response;
  response.status = refusal.kind == RefusalKind::kTooManyTexts ? 400 : status_of(refusal.kind);
  Json body;
  body["error"] = refusal.message;
  response.body = app::to_line(body);
  return response;
}

// Triton's further paths, by their ends, and this server's alternatives.
struct OfTriton {
  std::string_view end;
  std::string_view what;
  std::string_view instead;
};
constexpr std::array kOfTriton{
    OfTriton{"stats", "statistics", "/metrics has the counts and times of each model, for Prometheus"},
    OfTriton{"config", "model configuration", "/v2/models/NAME has the inputs and outputs of a model"},
    OfTriton{"trace/setting", "settings of traces",
             "`latebind serve --otlp-endpoint URL` sends a trace of each request"},
};

// Triton's paths below a model, or below all models, look like models' names.
std::optional<Refusal> refusal_of_triton(std::string_view name) {
  for (const OfTriton& one : kOfTriton) {
    if (!name.ends_with(one.end) || (name != one.end && name[name.size() - one.end.size() - 1] != '/')) continue;
    return Refusal{.kind = RefusalKind::kNotFound,
                   .message = fmt::format("this server has no {} in Triton's form; {}", one.what, one.instead),
                   .param = {}};
  }
  return std::nullopt;
}

// The path that gives the results of an output.
std::string_view route_of(const embedding::OutputKind& output) {
  return output.form == embedding::ResultForm::kSparseRow ? "/embed_sparse" : "/embed_all";
}

// Finds the model in the path; the second path value is a version.
Outcome<const ServedModel*> find_model(const PathValues& values, const Service& service) {
  auto found = service.find(values[0]);
  if (std::holds_alternative<Refusal>(found)) {
    if (auto refusal = refusal_of_triton(values[0])) return *std::move(refusal);
  }
  if (const auto* model = std::get_if<const ServedModel*>(&found);
      model != nullptr && (*model)->texts() != nullptr && text_form_of(**model) == nullptr) {
    const embedding::OutputKind& own = (*model)->texts()->output().kind();
    return Refusal{
        .kind = RefusalKind::kUnsupported,
        .message = fmt::format("{} is a {}: {} has its {}", (*model)->name, own.model, route_of(own), own.noun),
        .param = "model"};
  }
  if (values.size() < 2 || values[1] == kVersion || std::holds_alternative<Refusal>(found)) return found;
  return Refusal{
      .kind = RefusalKind::kNoModel,
      .message = fmt::format("the model has no version {}; available: {}", core::quoted(values[1], 40), kVersion),
      .param = "version"};
}

std::vector<std::string> output_names(const ServedModel& model) {
  if (const TextForm* const form = text_form_of(model)) return {std::string(form->output)};
  std::vector<std::string> names;
  for (const core::TensorInfo& output : model.tensors->outputs())
    names.push_back(output.name);
  return names;
}

void infer_tensors(const ExchangePtr& exchange, const ServedModel& model, InferRequest request,
                   std::vector<std::size_t> chosen, Service& service) {
  TensorCall call;
  call.model = model.name;
  for (auto& input : request.inputs) {
    if (const auto* text = std::get_if<TextTensor>(&input)) {
      return refuse(*exchange, kserve_protocol(),
                    {.kind = RefusalKind::kUnsupported,
                     .message = fmt::format("the input {} is of type BYTES, but the model has no such input",
                                            core::quoted(text->name, 100)),
                     .param = "inputs"});
    }
    call.inputs.push_back(std::get<NamedTensor>(std::move(input)));
  }
  request.inputs.clear();
  service.run(exchange, std::move(call),
              [exchange, &model, request = std::move(request),
               chosen = std::move(chosen)](const Outcome<std::vector<NamedTensor>>& outcome) {
                if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
                  return refuse(*exchange, kserve_protocol(), *refusal);
                }
                std::vector<AnswerTensor> outputs;
                for (const std::size_t position : chosen) {
                  const NamedTensor& output = std::get<std::vector<NamedTensor>>(outcome)[position];
                  outputs.push_back({.name = output.name,
                                     .type = output.type,
                                     .shape = output.shape.dims(),
                                     .data = output.data,
                                     .is_binary = is_binary(request, output.name)});
                }
                answer_with(*exchange, model, request, outputs);
              });
}

void infer(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  const auto found = find_model(values, service);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*exchange, kserve_protocol(), *refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  exchange->note([&](RequestRecord& record) { record.model = model.name; });
  auto parsed = parse_infer(exchange->request().header("inference-header-content-length"), exchange->request().body,
                            service.limits().texts_max);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) return refuse(*exchange, kserve_protocol(), *refusal);
  auto& request = std::get<InferRequest>(parsed);
  const auto names = output_names(model);
  auto chosen = choose_outputs(request, names);
  if (const auto* refusal = std::get_if<Refusal>(&chosen)) return refuse(*exchange, kserve_protocol(), *refusal);
  if (const TextForm* const form = text_form_of(model))
    return form->infer(exchange, model, std::move(request), service);
  infer_tensors(exchange, model, std::move(request), std::get<std::vector<std::size_t>>(std::move(chosen)), service);
}

void live(const ExchangePtr& exchange, const PathValues& /*values*/, Service& /*service*/) {
  answer_json(*exchange, Json::object({{"live", true}}));
}

void refuse_not_ready(Exchange& exchange) {
  refuse(exchange, kserve_protocol(),
         {.kind = RefusalKind::kNotReady,
          .message = "the server is starting or shutting down",
          .param = {},
          .retry_after_s = 1});
}

void ready(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  if (!service.is_ready()) return refuse_not_ready(*exchange);
  answer_json(*exchange, Json::object({{"ready", true}}));
}

void model_ready(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  const auto found = find_model(values, service);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*exchange, kserve_protocol(), *refusal);
  if (!service.is_ready()) return refuse_not_ready(*exchange);
  answer_json(*exchange, Json::object({{"name", std::get<const ServedModel*>(found)->name}, {"ready", true}}));
}

void server_metadata(const ExchangePtr& exchange, const PathValues& /*values*/, Service& /*service*/) {
  answer_json(*exchange, Json::object({{"name", "latebind"},
                                       {"version", LATEBIND_VERSION},
                                       {"extensions", Json::array({"binary_tensor_data", "parameters"})}}));
}

Json tensor_json(std::string_view name, std::string_view type, std::span<const std::int64_t> sizes) {
  Json json;
  json["name"] = std::string(name);
  json["datatype"] = std::string(type);
  json["shape"] = std::vector<std::int64_t>(sizes.begin(), sizes.end());
  return json;
}

Json tensors_json(std::span<const core::TensorInfo> tensors) {
  Json list = Json::array();
  for (const core::TensorInfo& tensor : tensors)
    list.push_back(tensor_json(tensor.name, type_of(tensor.type).name, tensor.shape.dims()));
  return list;
}

void model_metadata(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  const auto found = find_model(values, service);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*exchange, kserve_protocol(), *refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  Json json;
  json["name"] = model.name;
  json["versions"] = Json::array({std::string(kVersion)});
  json["platform"] = model.attestation()->active.backend;
  if (const TextForm* const form = text_form_of(model)) {
    const std::array<std::int64_t, 1> texts{core::kDynamic};
    const std::array<std::int64_t, 2> rows{core::kDynamic, static_cast<std::int64_t>(model.texts()->dimension())};
    json["inputs"] = Json::array();
    for (const std::string_view input : form->inputs)
      json["inputs"].push_back(tensor_json(input, "BYTES", texts));
    json["outputs"] = Json::array({tensor_json(form->output, "FP32", rows)});
  } else {
    json["inputs"] = tensors_json(model.tensors->inputs());
    json["outputs"] = tensors_json(model.tensors->outputs());
  }
  answer_json(*exchange, json);
}

// The request may exclude models that are not ready, but all are.
void repository_index(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  Json list = Json::array();
  for (const auto& model : service.models()) {
    list.push_back(Json::object({{"name", model->name}, {"version", std::string(kVersion)}, {"state", "READY"}}));
  }
  answer_json(*exchange, list);
}

Route get(std::string_view path, decltype(Route::handle) handle, std::string_view summary, Json (*schema)(),
          bool is_probe = false) {
  return {.method = "GET",
          .path = path,
          .handle = handle,
          .summary = summary,
          .answers = {{.status = 200, .description = "The answer.", .schema = schema}},
          .is_open = is_probe,
          .is_probe = is_probe};
}

Route post_infer(std::string_view path) {
  return {.method = "POST",
          .path = path,
          .handle = infer,
          .summary = "Runs a model. With Inference-Header-Content-Length, input data may follow the JSON.",
          .body = infer_request_schema,
          .answers = {{.status = 200, .description = "The outputs.", .schema = infer_answer_schema},
                      {.status = 200,
                       .description = "The outputs.",
                       .content_type = "application/octet-stream",
                       .schema = bytes_schema}}};
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>{
      get("/v2", server_metadata, "The server's name, version and extensions.", server_schema),
      get("/v2/health/live", live, "Whether the server is live.", live_schema, true),
      get("/v2/health/ready", ready, "Whether all models are ready.", ready_schema, true),
      get("/v2/models/{model}", model_metadata, "Inputs and outputs of a model.", metadata_schema),
      get("/v2/models/{model}/ready", model_ready, "Whether a model is ready.", model_ready_schema),
      get("/v2/models/{model}/versions/{version}", model_metadata, "Inputs and outputs of a model.", metadata_schema),
      get("/v2/models/{model}/versions/{version}/ready", model_ready, "Whether a model is ready.", model_ready_schema),
      post_infer("/v2/models/{model}/infer"),
      post_infer("/v2/models/{model}/versions/{version}/infer"),
      {.method = "POST",
       .path = "/v2/repository/index",
       .handle = repository_index,
       .summary = "Lists the served models.",
       .answers = {{.status = 200, .description = "The models.", .schema = index_schema}}}};
  return all;
}

}  // namespace
}  // namespace kserve

const Protocol& kserve_protocol() {
  static constexpr Protocol kProtocol{.name = "kserve",
                                      .about = "KServe's Open Inference Protocol, version 2.",
                                      .routes = kserve::routes,
                                      .refuse = kserve::answer_of,
                                      .refusal_schema = kserve::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
