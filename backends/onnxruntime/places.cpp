#include "backends/onnxruntime/places.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "backends/onnxruntime/provider_compile.h"

namespace latebind::onnxruntime {

using core::CompileOptions;
using core::Precision;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// Checks whether a virtual device may be used; the error says why not.
Status check_emulation(const TargetName& target, const CompileOptions& options) {
  const std::string id = fmt::format("onnxruntime:{}", device_name(target));
  if (!is_emulated(core::own_system(), core::own_architecture())) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} is a virtual device: models can be compiled for it here, and run on machines that "
                              "have it; its vendor's emulator needs x86_64 Linux",
                              id));
  }
  if (!options.emulate) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} is a virtual device: models can be compiled for it here, and run on machines that "
                              "have it; --emulate runs them here in its vendor's emulator",
                              id));
  }
  return {};
}

}  // namespace

Status check_precision(std::string_view device, Precision computes_in, const CompileOptions& options,
                       std::string_view provider) {
  if (options.precision == computes_in) return {};
  const KnownProvider* const known = known_provider(provider);
  const std::string_view why = known != nullptr ? known->why_one_precision : std::string_view();
  return Status(StatusCode::kUnsupported,
                fmt::format("onnxruntime:{} computes in {}, not in {}{}{}", device, core::word_of(computes_in),
                            core::word_of(options.precision), why.empty() ? "" : ": ", why));
}

Status check_label(const Library& library, const core::BlobLabel& label, std::string_view device,
                   const CompileOptions& options) {
  const auto refuse = [](std::string text) { return Status(StatusCode::kIncompatibleBlob, std::move(text)); };
  if (label.backend != kBackendName) {
    return refuse(fmt::format("the blob was made by {}, not by {}", label.backend, kBackendName));
  }
  if (label.device != device) {
    return refuse(fmt::format("the blob was made for device {}, not for {}", label.device, device));
  }
  // A provider's blob contains the provider's statement about versions; a blob of the CPU is for exactly one version.
  if (device == kCpu && label.runtime_version != library.version) {
    return refuse(
        fmt::format("the blob was made by ONNX Runtime {}, but this is {}", label.runtime_version, library.version));
  }
  if (label.precision != options.precision) {
    return refuse(fmt::format("the blob computes in {}, but the request is for {}", core::word_of(label.precision),
                              core::word_of(options.precision)));
  }
  if (!options.input_shapes.empty()) return refuse("a blob's input shapes cannot be changed");
  return {};
}

Precision computes_in(const PluginDevice& device) {
  const KnownProvider* const known = known_provider(device.provider);
  const bool is_npu = device.device.kind == core::DeviceKind::kNpu;
  return is_npu && known != nullptr && !known->targets.empty() ? Precision::kF16 : Precision::kF32;
}

bool compiles(const Place& place) {
  const KnownProvider* const known = known_provider(place.provider);
  return known == nullptr || known->compiles;
}

Result<Place> find_place(const Vendor& vendor, std::string_view device) {
  Place place;
  place.device = device;
  LB_ASSIGN_OR_RETURN(place.target, find_target(device));
  std::optional<PluginDevice> found;
  if (place.target.target != nullptr) {
    LB_ASSIGN_OR_RETURN(found, vendor.plugins->any_of(place.target.provider->provider));
    place.full_name = place.target.target->full_name;
    place.computes_in = Precision::kF16;
  } else {
    LB_ASSIGN_OR_RETURN(found, vendor.plugins->find(device));
    place.full_name = found->device.full_name;
    place.computes_in = computes_in(*found);
  }
  place.provider = found->provider;
  place.library = found->library;
  LB_ASSIGN_OR_RETURN(place.use, plugin_use(place.device, {*found}));
  return place;
}

Result<Place> find_place_to_run(const Vendor& vendor, std::string_view device, const CompileOptions& options) {
  LB_ASSIGN_OR_RETURN(const auto target, find_target(device));
  if (target.target != nullptr) LB_RETURN_IF_ERROR(check_emulation(target, options));
  LB_ASSIGN_OR_RETURN(auto place, find_place(vendor, device));
  LB_RETURN_IF_ERROR(check_precision(device, place.computes_in, options, place.provider));
  return place;
}

}  // namespace latebind::onnxruntime
