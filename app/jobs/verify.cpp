#include "app/jobs/verify.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

#include "app/model_source.h"
#include "core/bundle/bundle_model.h"
#include "core/vendor/vendor_call.h"
#include "core/verification/verifier.h"
#include "embedding/hub/content_check.h"
#include "embedding/place_network.h"
#include "embedding/text_samples.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// A model that can be loaded on several devices.
struct Subject {
  std::function<Result<std::shared_ptr<core::PlacedModel>>(const core::Placement&, const core::LoadOptions&)> load;
  core::MakeSamples samples;
};

bool is_network_file(const std::filesystem::path& place) {
  std::error_code ignored;
  const auto extension = place.extension();
  return std::filesystem::is_regular_file(place, ignored) && (extension == ".onnx" || extension == ".xml");
}

Result<Subject> subject_from_network(const std::filesystem::path& place, const core::Engine& engine) {
  LB_ASSIGN_OR_RETURN(auto model, open_model(place));
  return Subject{[engine, model = std::move(model)](const core::Placement& placement, const core::LoadOptions& load) {
                   return engine.load(model, placement, load);
                 },
                 [](std::span<const core::TensorInfo> inputs) { return core::random_samples(inputs); }};
}

// A bundle may hold an embedding model or any other.
Result<Subject> open_subject(const std::filesystem::path& place, const Runtime& runtime) {
  const core::Engine engine = runtime.engine();
  if (is_network_file(place)) return subject_from_network(place, engine);
  auto folder = open_folder(place, runtime.onnx_file);
  if (!folder.ok()) {
    if (core::is_bundle(place)) return subject_from_network(place, engine);
    return folder.status();
  }
  const embedding::Specification& specification = folder->documents();
  LB_ASSIGN_OR_RETURN(const std::size_t max_tokens, specification.token_limit(runtime.max_tokens));
  // One text per run, so that no result computed from padding is compared.
  auto samples = embedding::text_samples(specification, max_tokens, /*pooled=*/false);
  return Subject{
      [engine, specification, max_tokens](const core::Placement& placement,
                                          const core::LoadOptions& load) -> Result<std::shared_ptr<core::PlacedModel>> {
        LB_ASSIGN_OR_RETURN(auto placed, embedding::place_network(engine, specification, placement, load, max_tokens));
        return std::move(placed.model);
      },
      std::move(samples)};
}

Result<std::vector<core::Sample>> samples_for(const VerifyOptions& options, const Subject& subject,
                                              std::span<const core::TensorInfo> inputs) {
  if (options.inputs.empty()) return subject.samples(inputs);
  LB_ASSIGN_OR_RETURN(auto made, make_inputs(inputs, options.inputs));
  core::Sample sample{.name = "the inputs that were given", .inputs = {}, .owner = {}};
  for (const RunInput& input : made)
    sample.inputs.push_back(input.view);
  sample.owner = std::make_shared<std::vector<RunInput>>(std::move(made));
  return std::vector{std::move(sample)};
}

// Runs on the loaded device only, without fallback.
core::Comparand comparand(core::PlacedModel& model, const std::string& device, const Client& client) {
  return {model.outputs(),
          [&model, device, &client](std::span<const core::TensorView> inputs,
                                    std::span<core::OutputTensor> outputs) -> Status {
            LB_RETURN_IF_ERROR(client.check_cancelled());
            std::shared_ptr<const core::Attestation> by;
            LB_RETURN_IF_ERROR(model.execute(inputs, outputs, {.cancellation = client.cancellation}, &by));
            if (by->active.id() == device) return {};
            return {StatusCode::kDeviceFailed, by->reason};
          }};
}

struct Loaded {
  std::shared_ptr<core::PlacedModel> model;
  core::Attestation attestation;
};

// Loads the first other device that accepts the model, in f32.
Result<Loaded> load_reference(const Subject& subject, const Runtime& runtime, const std::string& tested,
                              const std::string& against, const core::LoadOptions& given) {
  std::string reasons;
  LB_ASSIGN_OR_RETURN(const auto devices, core::reference_devices(runtime.registry.all(), tested, against, &reasons));
  core::LoadOptions load = given;
  load.strict = true;
  load.compile.precision = core::Precision::kF32;
  load.compile.emulate = false;
  load.compile.properties.clear();
  load.other_precisions.clear();
  load.shapes = core::ShapeMode::kDynamicShapes;
  for (const core::Device& device : devices) {
    LB_ASSIGN_OR_RETURN(const auto placement, core::Placement::parse(device.id(), runtime.registry));
    auto loaded = subject.load(placement, load);
    if (loaded.ok()) return Loaded{*loaded, *(*loaded)->attestation()};
    if (core::is_of_the_call(loaded.status())) return loaded.status();
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", device.id(), loaded.status().brief());
  }
  return core::no_reference_error(tested, reasons);
}

Json of_device(const core::Attestation& attestation) {
  Json json;
  json["device"] = attestation.active.id();
  json["device_full_name"] = attestation.active.device_full_name;
  json["runtime_version"] = attestation.active.runtime_version;
  json["precision"] = core::word_of(attestation.active.precision);
  return json;
}

}  // namespace

Result<VerifyReport> verify(const VerifyOptions& options, const Runtime& runtime, const Client& client) {
  LB_RETURN_IF_ERROR(check_requested_inputs(options.inputs));
  LB_ASSIGN_OR_RETURN(const auto place, find_model(options.model, runtime.onnx_file, client));
  LB_ASSIGN_OR_RETURN(const Subject subject, open_subject(place, runtime));
  core::LoadOptions load = runtime.load;
  load.verification = {};
  load.cancellation = client.cancellation;
  client.advance("opening the model", 0, 0);
  const auto loaded = subject.load(runtime.placement, load);
  if (!loaded.ok()) return embedding::hub::with_damage(loaded.status(), place);
  const auto& tested = *loaded;
  VerifyReport report{.tested = *tested->attestation(), .reference = {}, .comparison = {}};
  const std::string device = report.tested.active.id();
  const std::string& against = options.against.empty() ? runtime.settings.verify_against : options.against;
  if (against == device) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} would be compared with itself: name another device "
                                                            "with {}",
                                                            device, client.name("against")));
  }
  LB_ASSIGN_OR_RETURN(const Loaded reference, load_reference(subject, runtime, device, against, load));
  report.reference = reference.attestation;
  LB_ASSIGN_OR_RETURN(const auto samples, samples_for(options, subject, tested->inputs()));
  client.advance("comparing", 0, 0);
  LB_ASSIGN_OR_RETURN(report.comparison,
                      core::compare(comparand(*tested, device, client),
                                    comparand(*reference.model, report.reference.active.id(), client), samples,
                                    report.tested.active.precision));
  return report;
}

Json to_json(const VerifyReport& report) {
  const core::Comparison& comparison = report.comparison;
  Json json;
  json["agrees"] = report.agrees();
  json["verdict"] = comparison.text();
  json["tested"] = of_device(report.tested);
  json["tested"]["fallback"] = report.tested.fallback;
  json["tested"]["reason"] = report.tested.reason;
  json["against"] = of_device(report.reference);
  json["bounds"] = {{"relative_most", comparison.bounds.relative_most},
                    {"cosine_least", comparison.bounds.cosine_least},
                    {"different_most", comparison.bounds.different_most}};
  json["failure"] = reason_of(comparison.failure);
  json["samples"] = Json::array();
  for (const auto& sample : comparison.samples) {
    Json one;
    one["name"] = sample.name;
    one["shapes"] = Json::array();
    for (const core::Shape& shape : sample.shapes)
      one["shapes"].push_back(shape.dims());
    one["left_out"] = reason_of(sample.left_out);
    json["samples"].push_back(std::move(one));
  }
  json["outputs"] = Json::array();
  for (const auto& output : comparison.outputs) {
    const core::Difference& difference = output.difference;
    Json one;
    one["name"] = output.name;
    one["type"] = core::name_of(output.type);
    one["agrees"] = output.agrees;
    one["why"] = output.agrees ? "" : core::text_of(difference, comparison.bounds);
    one["elements"] = difference.elements;
    one["absolute"] = difference.absolute;
    one["relative"] = difference.relative;
    one["cosine"] = difference.cosine;
    one["nan"] = difference.nan_count;
    one["nan_against"] = difference.reference_nan_count;
    one["non_finite_apart"] = difference.non_finite_apart;
    one["different"] = difference.different;
    json["outputs"].push_back(std::move(one));
  }
  return json;
}

}  // namespace latebind::app
