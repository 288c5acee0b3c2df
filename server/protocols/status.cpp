#include "server/protocols/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/platform/system_info.h"
#include "embedding/outputs/score.h"
#include "embedding/outputs/token_vectors.h"

namespace latebind::server {
namespace {

using app::Json;
using app::rounded;

double ms_of(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

double uptime_of(const Service& service) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - service.started()).count();
}

// Whether a preferred device was taken out of service after it had worked.
bool has_open_breaker(const core::Attestation& attested, const ServedModel& model) {
  return attested.fallback && !model.began_as_fallback;
}

Json steps_json(const core::Attestation& attested) {
  Json steps = Json::array();
  for (const core::PlacementStep& step : attested.steps) {
    Json one;
    one["device"] = step.device;
    one["taken"] = step.taken;
    one["brief"] = step.brief;
    one["reason"] = step.reason;
    one["details"] = step.details;
    steps.push_back(std::move(one));
  }
  return steps;
}

Json batches_json(const std::vector<BatchSeen>& batches) {
  Json list = Json::array();
  for (const BatchSeen& seen : batches) {
    Json one;
    one["number"] = seen.number;
    one["texts"] = seen.batch.texts;
    one["rows"] = seen.batch.rows;
    one["width"] = seen.batch.width;
    one["tokens"] = seen.batch.tokens;
    one["computed_tokens"] = seen.batch.computed_tokens;
    one["padded_tokens"] = padded_tokens(seen.batch);
    one["owners"] = seen.batch.submissions;
    one["ms"] = rounded(ms_of(seen.batch.time), 3);
    list.push_back(std::move(one));
  }
  return list;
}

Json tensors_json(std::span<const core::TensorInfo> tensors) {
  Json list = Json::array();
  for (const core::TensorInfo& tensor : tensors) {
    Json one;
    one["name"] = tensor.name;
    one["type"] = std::string(core::name_of(tensor.type));
    one["shape"] = Json::array();
    for (const std::int64_t dimension : tensor.shape.dims())
      one["shape"].push_back(dimension);
    list.push_back(std::move(one));
  }
  return list;
}

Json sums_json(const Totals& totals) {
  Json sums;
  sums["texts"] = totals.texts;
  sums["tokens"] = totals.tokens;
  sums["fallback_texts"] = totals.fallback_texts;
  sums["batches"] = totals.batches;
  sums["batch_tokens"] = totals.batch_tokens;
  sums["padded_tokens"] = totals.padded_tokens;
  return sums;
}

// Describes the query route of a router.
Json queries_json(const embedding::Encoder& queries) {
  Json json;
  json["device"] = queries.attestation()->active.id();
  json["max_tokens"] = queries.max_tokens();
  return json;
}

// "cross-encoder"
std::string kind_of(const ServedModel& model) {
  if (model.texts() == nullptr) return "tensors";
  const embedding::OutputKind& own = model.texts()->output().kind();
  if (own.name == embedding::kDenseOutput.name) return "embedding";
  std::string kind(own.model);
  std::ranges::replace(kind, ' ', '-');
  return kind;
}

// Adds the sizes and limits of a model that takes texts.
void add_network(Json& json, const embedding::Embedder& network) {
  const embedding::Output& own = network.output();
  if (const auto* const scores = embedding::as<embedding::ScoreOutput>(own)) {
    json["labels"] = scores->labels();
  } else {
    const bool is_sparse = own.kind().form == embedding::ResultForm::kSparseRow;
    json[is_sparse ? "vocabulary_size" : "dimension"] = network.dimension();
  }
  json["max_tokens"] = network.max_tokens();
  if (own.kind().has_roles) json["max_query_tokens"] = network.max_tokens(embedding::TextRole::kQuery);
  if (network.has_routes()) json["queries"] = queries_json(**network.route_for(embedding::TextRole::kQuery));
}

Json model_json(Service& service, const ServedModel& model) {
  const auto attested = model.attestation();
  const core::ActiveConfig& active = attested->active;
  Json json;
  json["name"] = model.name;
  json["aliases"] = model.aliases;
  json["kind"] = kind_of(model);
  if (const embedding::Embedder* const texts = model.texts()) {
    add_network(json, *texts);
    json["outputs"] = model.outputs();
  } else {
    json["inputs"] = tensors_json(model.tensors->inputs());
    json["outputs"] = tensors_json(model.tensors->outputs());
  }
  json["backend"] = active.backend;
  json["device"] = active.id();
  json["device_full_name"] = active.device_full_name;
  json["runtime_version"] = active.runtime_version;
  json["precision"] = std::string(core::word_of(active.precision));
  json["threads"] = active.threads;
  json["requests"] = active.requests;
  json["from_cache"] = active.from_cache;
  json["emulated"] = active.emulated;
  if (active.nodes > 0) {
    json["nodes"] = active.nodes;
    json["host_nodes"] = active.host_nodes;
  }
  json["load_s"] = rounded(model.load_seconds, 3);
  json["fallback"] = attested->fallback;
  json["reason"] = attested->reason;
  json["verification"] = attested->verification;
  json["steps"] = steps_json(*attested);
  json["breaker_open"] = has_open_breaker(*attested, model);
  json["hung_runs"] = Service::hung_runs_of(model);
  const ModelQueue queue = service.queue_of(model);
  if (model.tensors != nullptr) {
    json["queue"]["runs"] = queue.waiting_runs;
    json["queue"]["running"] = queue.running;
  } else {
    json["token_vectors"] = model.gives(embedding::kTokenVectorsOutput.name);
    json["queue"]["texts"] = queue.waiting_texts;
    json["queue"]["tokens"] = queue.waiting_tokens;
    json["queue"]["running_batches"] = queue.running;
    json["queue"]["running_tokens"] = queue.running_tokens;
    json["totals"] = sums_json(service.metrics().totals_of(model.name));
    json["batches"] = batches_json(service.metrics().recent_batches(model.name));
  }
  return json;
}

}  // namespace

Json status_json(Service& service) {
  const ServerFacts& facts = service.facts();
  Json json;
  json["version"] = LATEBIND_VERSION;
  json["ready"] = service.is_ready();
  json["uptime_s"] = rounded(uptime_of(service), 1);
  json["listen"] = facts.addresses;
  json["models"] = Json::array();
  if (service.has_models()) {
    for (const auto& model : service.models())
      json["models"].push_back(model_json(service, *model));
  }
  const Totals totals = service.metrics().totals();
  const RecentFigures recent = service.metrics().recent();
  Json& requests = json["requests"];
  requests["in_flight"] = service.requests_in_flight();
  requests["total"] = totals.requests;
  requests["refused"] = totals.refused;
  requests["failed"] = totals.failed;
  requests["per_s"] = rounded(recent.requests_per_s, 1);
  requests["texts_per_s"] = rounded(recent.texts_per_s, 1);
  requests["tokens_per_s"] = rounded(recent.tokens_per_s, 0);
  requests["p50_ms"] = rounded(recent.p50_ms, 2);
  requests["p95_ms"] = rounded(recent.p95_ms, 2);
  requests["p99_ms"] = rounded(recent.p99_ms, 2);
  json["totals"] = sums_json(totals);
  json["connections"] = facts.connections ? facts.connections() : 0;
  json["memory"]["resident_bytes"] = platform::resident_bytes();
  json["memory"]["held_bytes"] = facts.held_bytes ? facts.held_bytes() : 0;
  Json& limits = json["limits"];
  limits["queue_tokens"] = service.limits().queue_tokens_max;
  limits["queue_runs"] = service.limits().queue_runs_max;
  limits["texts"] = service.limits().texts_max;
  limits["body_bytes"] = facts.body_bytes_max;
  limits["held_bytes"] = facts.held_bytes_max;
  limits["request_timeout_ms"] = facts.request_timeout_ms;
  limits["connections"] = facts.connections_max;
  json["cache"]["enabled"] = !facts.cache_folder.empty();
  json["cache"]["folder"] = facts.cache_folder;
  json["cache"]["max_bytes"] = facts.cache_bytes_max;
  return json;
}

ServerGauges gauges_of(Service& service) {
  const ServerFacts& facts = service.facts();
  ServerGauges gauges;
  gauges.version = LATEBIND_VERSION;
  gauges.ready = service.is_ready();
  gauges.uptime_seconds = uptime_of(service);
  gauges.connections = facts.connections ? facts.connections() : 0;
  gauges.held_bytes = facts.held_bytes ? facts.held_bytes() : 0;
  gauges.held_bytes_max = facts.held_bytes_max;
  gauges.requests_in_flight = service.requests_in_flight();
  gauges.resident_bytes = platform::resident_bytes();
  if (!service.has_models()) return gauges;
  for (const auto& model : service.models()) {
    const auto attested = model->attestation();
    ModelGauges one;
    one.model = model->name;
    one.device = attested->active.id();
    one.precision = core::word_of(attested->active.precision);
    one.fallback = attested->fallback;
    one.breaker_open = has_open_breaker(*attested, *model);
    one.load_seconds = model->load_seconds;
    one.from_cache = attested->active.from_cache;
    const ModelQueue queue = service.queue_of(*model);
    one.waiting_texts = queue.waiting_texts;
    one.waiting_tokens = queue.waiting_tokens;
    one.waiting_runs = queue.waiting_runs;
    one.running_batches = queue.running;
    one.running_tokens = queue.running_tokens;
    gauges.models.push_back(std::move(one));
  }
  return gauges;
}

}  // namespace latebind::server
