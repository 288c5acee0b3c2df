#include "core/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/backend/blob_source.h"
#include "core/backend/onnx_check.h"
#include "core/backend/questions.h"
#include "core/cache/cached_load.h"
#include "core/engine/named_executable.h"

namespace latebind::core {
namespace {

bool wants_static_shapes(const Device& device, const LoadOptions& options) {
  if (options.static_lengths.lengths.empty() || options.static_lengths.inputs == 0) return false;
  return options.shapes == ShapeMode::kStaticShapes ||
         (options.shapes == ShapeMode::kAutoShapes && (device.kind == DeviceKind::kNpu || device.traits.static_shapes));
}

// Returns the lengths of the model's own blobs, if it has some, and of the wanted lengths those that are longer.
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
  // One ready length beyond the limit serves all lengths up to the limit.
  if (lengths.size() < ready.size()) lengths.push_back(ready[lengths.size()]);
  made.lengths.insert(made.lengths.begin(), lengths.begin(), lengths.end());
  return made;
}

// Loads in the first precision that the device accepts. Vendors reject a precision in different ways, so any refusal by
// the device leads to the next precision.
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

// Whether a device that runs only graphs should come before others. If it would refuse the model, its refusal must not
// look like a fallback, and a model with blobs was compiled for other devices.
bool can_compute(const Device& device, const ModelKind& model, const LoadOptions& options) {
  const CompileOptions& compile = options.compile;
  if (!device.traits.graphs_only) return true;
  // No blob is in these precisions, because vendors refuse them.
  const bool is_its_own = compile.precision == Precision::kInt8 || compile.precision == Precision::kFast;
  if (!model.has_graph || (model.has_blobs && !is_its_own)) return false;
  if (options.shapes == ShapeMode::kStaticShapes) return false;
  if (!compile.input_shapes.empty() || !compile.properties.empty()) return false;
  return compile.precision == Precision::kFast || device.traits.computes_in(compile.precision);
}

}  // namespace

Placement::Preference preference_for(const ModelKind& model, const LoadOptions& options) {
  return [model, options](const Device& device) {
    return device.traits.is_preferred_in(options.compile.precision) && can_compute(device, model, options);
  };
}

// The load is a stack of functions, each of which adds one thing to the one below it:
//   load_one     one model with one set of options, from its blobs, from the cache, or compiled
//   load_shapes  several static lengths of it as one executable, if the device wants static shapes
//   load_with    the model's names, the bounds on input numbers, and the comparison with another device
//   load_in_any  the first precision that the device accepts
// The outermost function owns everything it uses, because PlacedModel keeps it for candidates that are loaded later.
Result<std::shared_ptr<PlacedModel>> Engine::load(const Model& model, const Placement& placement,
                                                  const LoadOptions& given) const {
  LoadOptions options = given;
  // A node on the CPU counts as a fallback.
  if (options.strict && options.compile.host_nodes == HostNodes::kIntegers)
    options.compile.host_nodes = HostNodes::kNone;
  if (options.static_lengths.inputs == 0 && options.compile.input_shapes.empty() && model.blobs() != nullptr) {
    auto padded = model.blobs()->padded();
    options.static_lengths.inputs = padded.inputs;
    options.static_lengths.lengths = std::move(padded.lengths);
  }
  const RunOptions limits{.deadline = options.deadline, .cancellation = options.cancellation};
  RunOptions query_limits = limits;
  // The kind of device is not known yet.
  query_limits.run_timeout = load_timeout_of(options.failover, DeviceKind::kOther);
  const auto prefers = preference_for(ModelKind::of(model), options);
  LB_ASSIGN_OR_RETURN(auto candidates, placement.resolve(registry_, options.compile.emulate, query_limits, prefers));
  for (auto& candidate : candidates) {
    if (!candidate.device || !candidate.device->traits.graphs_only || model.graph() != nullptr) continue;
    // Treated as absent, because its refusal says nothing about the model.
    candidate.refusal =
        PlacementStep::refused(candidate.device->id(), Status(StatusCode::kUnsupported, DeviceTraits::kNeedsGraph));
    candidate.device.reset();
  }
  const auto verifier =
      options.verification.enabled
          ? std::make_shared<Verifier>(
                registry_.all(), model,
                Verifier::Setup{options.verification, options.compile, options.failover, options.cache, options.strict})
          : nullptr;
  // Owns the model and the backends, for candidates that are loaded later.
  auto load = [backends = registry_.all(), model, options,
               verifier](const Device& device) -> Result<std::unique_ptr<Executable>> {
    const auto backend = std::ranges::find_if(backends, [&](const auto& one) { return one->name() == device.backend; });
    if (backend == backends.end()) {
      return Status(StatusCode::kDeviceNotFound, fmt::format("{}: no such backend", device.id()));
    }
    // The executable keeps it for shapes that are loaded later.
    const auto load_one = [backend = *backend, model, device, cache = options.cache](const CompileOptions& compile) {
      return ready_or_cached_load(*backend, model, device, compile, cache.get());
    };
    const auto load_shapes = [&](const CompileOptions& compile) -> Result<std::unique_ptr<Executable>> {
      if (!wants_static_shapes(device, options)) return load_one(compile);
      // Several threads may call it at once.
      auto load_static = [load_one, compile, inputs = options.static_lengths.inputs](const Shape& shape) {
        CompileOptions with_shape = compile;
        with_shape.input_shapes.assign(inputs, shape);
        return load_one(with_shape);
      };
      StaticLengthOptions lengths = static_lengths_for(model, device, compile, options.static_lengths);
      lengths.load_timeout = load_timeout_of(options.failover, device.kind);
      return load_static_lengths(std::move(load_static), lengths);
    };
    LB_ASSIGN_OR_RETURN(const OnnxBounds bounds, onnx_input_bounds(model, **backend, device));
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
    if (auto known = known_errors_of(*backend); known.ok()) {
      report.known_errors = *std::move(known);
    } else if (report.status.ok()) {
      // If the table cannot be read, the backend can load no ONNX model.
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
