#include "core/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/blob_source.h"
#include "core/cached_load.h"
#include "core/named_executable.h"
#include "core/onnx_check.h"

namespace latebind::core {
namespace {

bool wants_static_shapes(const Device& device, const LoadOptions& options) {
  if (options.static_lengths.lengths.empty() || options.static_lengths.inputs == 0) return false;
  return options.shapes == ShapeMode::kStaticShapes ||
         (options.shapes == ShapeMode::kAutoShapes && device.kind == DeviceKind::kNpu);
}

// The lengths that lie ready, where the model brings some, and beyond the longest of them those that were asked for.
StaticLengthOptions static_lengths_for(const Model& model, const Device& device, const CompileOptions& compile,
                                       const StaticLengthOptions& wanted) {
  if (model.blobs() == nullptr) return wanted;
  const auto ready = model.blobs()->static_lengths(device, compile, wanted.rows);
  if (ready.empty()) return wanted;
  StaticLengthOptions made = wanted;
  std::erase_if(made.lengths, [&](std::size_t length) { return length <= ready.back(); });
  const std::size_t longest = wanted.lengths.back();
  std::vector<std::size_t> lengths;
  std::ranges::copy_if(ready, std::back_inserter(lengths), [&](std::size_t length) { return length <= longest; });
  // A ready length beyond the limit serves everything.
  if (lengths.size() < ready.size()) lengths.push_back(ready[lengths.size()]);
  made.lengths.insert(made.lengths.begin(), lengths.begin(), lengths.end());
  return made;
}

// In the first precision that the device takes. Vendors reject a precision in their own words, so that any refusal of
// the device's leads to the next one.
Result<std::unique_ptr<Executable>> load_in_any(
    const std::function<Result<std::unique_ptr<Executable>>(const CompileOptions& compile)>& load,
    const LoadOptions& options) {
  auto first = load(options.compile);
  if (first.ok()) return first;
  Status refusal = first.status();
  CompileOptions other = options.compile;
  for (const Precision precision : options.other_precisions) {
    if (refusal.code() != StatusCode::kUnsupported && refusal.code() != StatusCode::kDeviceFailed) break;
    other.precision = precision;
    auto next = load(other);
    if (next.ok()) return next;
    refusal = next.status();
  }
  return first.status();
}

// Whether it makes sense to ask this device, which runs graphs alone, before others: what it would refuse must not look
// like a fallback, and blobs were made for others.
bool can_compute(const Device& device, const ModelKind& model, const LoadOptions& options) {
  const CompileOptions& compile = options.compile;
  if (!device.runs_graphs_only()) return true;
  // No blob is in these precisions: vendors refuse them.
  const bool is_its_own = compile.precision == Precision::kInt8 || compile.precision == Precision::kFast;
  if (!model.has_graph || (model.has_blobs && !is_its_own)) return false;
  if (options.shapes == ShapeMode::kStaticShapes) return false;
  if (!compile.input_shapes.empty() || !compile.properties.empty()) return false;
  return compile.precision == Precision::kFast || device.computes_in(compile.precision);
}

}  // namespace

Placement::Preference preference_for(const ModelKind& model, const LoadOptions& options) {
  return [model, options](const Device& device) {
    return device.is_preferred_in(options.compile.precision) && can_compute(device, model, options);
  };
}

Result<std::shared_ptr<PlacedModel>> Engine::load(const Model& model, const Placement& placement,
                                                  const LoadOptions& given) const {
  LoadOptions options = given;
  // A node on the CPU is a fallback, too.
  if (options.strict && options.compile.host_nodes == HostNodes::kIntegers)
    options.compile.host_nodes = HostNodes::kNone;
  if (options.static_lengths.inputs == 0 && options.compile.input_shapes.empty() && model.blobs() != nullptr) {
    auto padded = model.blobs()->padded();
    options.static_lengths.inputs = padded.inputs;
    options.static_lengths.lengths = std::move(padded.lengths);
  }
  const RunOptions limits{.deadline = options.deadline, .cancellation = options.cancellation};
  RunOptions of_a_question = limits;
  // Which devices there are is still open.
  of_a_question.run_timeout = load_timeout_of(options.failover, DeviceKind::kOther);
  const auto prefers = preference_for(ModelKind::of(model), options);
  LB_ASSIGN_OR_RETURN(auto candidates, placement.resolve(registry_, options.compile.emulate, of_a_question, prefers));
  for (auto& candidate : candidates) {
    if (!candidate.device || !candidate.device->runs_graphs_only() || model.graph() != nullptr) continue;
    // As if it was not there: it says nothing about the model.
    candidate.refusal =
        PlacementStep::refused(candidate.device->id(), Status(StatusCode::kUnsupported, Device::kNeedsGraph));
    candidate.device.reset();
  }
  const auto verifier =
      options.verification.enabled
          ? std::make_shared<Verifier>(
                registry_.all(), model,
                Verifier::Setup{options.verification, options.compile, options.failover, options.cache, options.strict})
          : nullptr;
  // The model and the backends are kept for candidates that are loaded later.
  auto load = [backends = registry_.all(), model, options,
               verifier](const Device& device) -> Result<std::unique_ptr<Executable>> {
    const auto backend = std::ranges::find_if(backends, [&](const auto& one) { return one->name() == device.backend; });
    if (backend == backends.end()) {
      return Status(StatusCode::kDeviceNotFound, fmt::format("{}: there is no such backend", device.id()));
    }
    // Kept by the executable for the shapes that are loaded later.
    const auto load_one = [backend = *backend, model, device, cache = options.cache](const CompileOptions& compile) {
      return ready_or_cached_load(*backend, model, device, compile, cache.get());
    };
    const auto load_shapes = [&](const CompileOptions& compile) -> Result<std::unique_ptr<Executable>> {
      if (!wants_static_shapes(device, options)) return load_one(compile);
      // Called by several threads at once.
      auto load_static = [load_one, compile, inputs = options.static_lengths.inputs](const Shape& shape) {
        CompileOptions with_shape = compile;
        with_shape.input_shapes.assign(inputs, shape);
        return load_one(with_shape);
      };
      StaticLengthOptions lengths = static_lengths_for(model, device, compile, options.static_lengths);
      lengths.load_timeout = load_timeout_of(options.failover, device.kind);
      return load_static_lengths(std::move(load_static), lengths);
    };
    LB_ASSIGN_OR_RETURN(const OnnxBounds bounds, bounds_as_onnx_says(model, **backend, device));
    const auto load_with = [&](const CompileOptions& compile) -> Result<std::unique_ptr<Executable>> {
      LB_ASSIGN_OR_RETURN(auto as_vendor_names, load_shapes(compile));
      auto loaded = with_names_of(model, std::move(as_vendor_names));
      loaded->set_input_bounds(InputBounds::of(loaded->inputs(), bounds.inputs, bounds.bounds, device.id()));
      if (verifier) LB_RETURN_IF_ERROR(verifier->verify(device, compile, *loaded));
      return loaded;
    };
    return load_in_any(load_with, options);
  };
  return PlacedModel::place(model.name(), placement, std::move(candidates), std::move(load), options.strict,
                            options.failover, limits);
}

std::vector<BackendReport> Engine::report() const {
  std::vector<BackendReport> reports;
  for (const auto& backend : registry_.all()) {
    BackendReport report;
    report.name = std::string(backend->name());
    report.status = backend->available();
    Result<std::vector<Device>> devices = report.status.ok() ? backend->devices() : report.status;
    report.diagnosis = backend->diagnosis(&devices);
    if (auto known = backend->known_errors(); known.ok()) {
      report.known_errors = *std::move(known);
    } else if (report.status.ok()) {
      // A table that cannot be read keeps every ONNX model from the backend.
      devices = report.status = known.status();
    }
    if (report.status.ok()) {
      auto version = backend->runtime_version();
      if (version.ok()) report.runtime_version = *std::move(version);
      report.status = devices.status();
      if (devices.ok()) report.devices = *std::move(devices);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace latebind::core
