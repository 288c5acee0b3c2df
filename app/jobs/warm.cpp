#include "app/jobs/warm.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "app/model_source.h"
#include "core/engine/engine.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// Uses this device alone, because a fallback would compile nothing for it. It is ready if a second opening finds the
// model in the cache, as a later start will.
Result<core::Attestation> prepare(const std::filesystem::path& folder, const Runtime& configured,
                                  const std::string& device, const Client& client) {
  Runtime runtime = configured;
  LB_ASSIGN_OR_RETURN(runtime.placement, core::Placement::parse(device, runtime.registry));
  runtime.load.strict = true;
  runtime.load.cancellation = client.cancellation;
  runtime.load.static_lengths.preload = false;
  // Discards the outcome of the previous device.
  runtime.load.cache->settle();
  static_cast<void>(runtime.load.cache->take_failure());
  {
    LB_ASSIGN_OR_RETURN(const auto compiled, open_network(folder, runtime));
    LB_RETURN_IF_ERROR(compiled->prepare());
    const auto attested = compiled->attestation();
    if (attested->active.compiles_nothing) return *attested;
  }
  runtime.load.cache->settle();
  const Status kept = runtime.load.cache->take_failure();
  LB_ASSIGN_OR_RETURN(const auto embedder, open_network(folder, runtime));
  const auto attested = embedder->attestation();
  if (attested->active.from_cache) return *attested;
  if (!kept.ok()) return kept.with_context("it was compiled but not kept");
  return Status(StatusCode::kIo, fmt::format("it was compiled but not kept; {} says why", client.log));
}

WarmReport::OfDevice warm_one(const std::filesystem::path& folder, const Runtime& runtime, const std::string& device,
                              const Client& client) {
  const auto start = std::chrono::steady_clock::now();
  WarmReport::OfDevice outcome;
  outcome.device = device;
  auto prepared = prepare(folder, runtime, device, client);
  outcome.status = prepared.status();
  if (prepared.ok()) {
    outcome.active = prepared->active;
    outcome.verification = prepared->verification;
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

// Returns an empty kind for a model that cannot be read; each device then reports why.
core::ModelKind kind_of(const std::filesystem::path& place, const std::string& onnx_file) {
  const auto folder = embedding::ModelFolder::open(place, folder_options(onnx_file));
  const auto built = folder.ok() ? embedding::build_model(folder->documents()) : folder.status();
  return built.ok() ? core::ModelKind::of(built->model) : core::ModelKind();
}

}  // namespace

Status check_warm(const Settings& settings) {
  if (settings.cache.value_or(true)) return {};
  return {StatusCode::kInvalidArgument,
          "the cache is off, so compiled models would not be kept: set cache.enabled to true"};
}

Result<WarmReport> warm(const std::string& model, const Runtime& runtime, const Client& client) {
  LB_RETURN_IF_ERROR(check_warm(runtime.settings));
  if (!runtime.load.cache) {
    return Status(StatusCode::kNotFound, fmt::format("the cache of compiled models has no folder: name one with {}",
                                                     client.name("cache_folder")));
  }
  LB_RETURN_IF_ERROR(runtime.load.cache->store()->check_folder());
  LB_ASSIGN_OR_RETURN(const auto folder, find_model(model, runtime.onnx_file, client));
  WarmReport report;
  std::vector<core::PlacementStep> refusals;
  const auto prefers = core::preference_for(kind_of(folder, runtime.onnx_file), runtime.load);
  for (const auto& candidate : runtime.placement.resolve(runtime.registry, runtime.settings.emulate, prefers)) {
    if (!candidate.device) {
      refusals.push_back(candidate.refusal);
      if (runtime.load.strict) break;
      continue;
    }
    if (runtime.load.strict && !report.devices.empty()) break;
    LB_RETURN_IF_ERROR(client.check_cancelled());
    client.advance("preparing " + candidate.device->id(), report.devices.size(), 0);
    report.devices.push_back(warm_one(folder, runtime, candidate.device->id(), client));
  }
  LB_RETURN_IF_ERROR(client.check_cancelled());
  if (report.devices.empty()) {
    return Status(StatusCode::kNoDevice,
                  fmt::format("no device of '{}' is available: {}", runtime.placement.text(), listed(refusals)))
        .with_details(details_of(refusals));
  }
  return report;
}

Json to_json(const WarmReport& report) {
  Json json;
  json["devices"] = Json::array();
  for (const WarmReport::OfDevice& outcome : report.devices) {
    Json one;
    one["device"] = outcome.device;
    one["ready"] = outcome.status.ok();
    one["seconds"] = rounded(outcome.seconds, 3);
    one["reason"] = reason_of(outcome.status);
    one["verification"] = outcome.verification;
    json["devices"].push_back(std::move(one));
  }
  return json;
}

}  // namespace latebind::app
