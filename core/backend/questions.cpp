#include "core/backend/questions.h"

#include <fmt/format.h>

#include <utility>

namespace latebind::core {
namespace {

Status not_its_own(Backend& backend) {
  return {StatusCode::kIncompatibleBlob,
          fmt::format("{} does not produce blobs, so this one is not its own", backend.name())};
}

}  // namespace

Result<Blob> compile_blob(Backend& backend, const Model& model, std::string_view device, const CompileOptions& options,
                          LeftNodes* left) {
  LeftNodes unwanted;
  LeftNodes& nodes = left != nullptr ? *left : unwanted;
  nodes = {};
  const Capabilities has = backend.capabilities();
  if (has.blobs != nullptr) return has.blobs->compile(model, device, options, nodes);
  return Status(StatusCode::kUnsupported, has.no_blobs_because.empty()
                                              ? fmt::format("{} has nothing to compile", backend.name())
                                              : std::string(has.no_blobs_because));
}

Status check_blob(Backend& backend, const BlobLabel& label, std::string_view device, const CompileOptions& options) {
  Blobs* const blobs = backend.capabilities().blobs;
  return blobs != nullptr ? blobs->check(label, device, options) : not_its_own(backend);
}

Result<std::unique_ptr<Executable>> load_blob(Backend& backend, const Blob& blob, std::string_view device,
                                              const CompileOptions& options) {
  Blobs* const blobs = backend.capabilities().blobs;
  if (blobs == nullptr) return not_its_own(backend);
  return blobs->load_blob(blob, device, options);
}

Result<std::vector<Device>> virtual_devices_of(Backend& backend) {
  VirtualDevices* const devices = backend.capabilities().virtual_devices;
  return devices != nullptr ? devices->virtual_devices() : std::vector<Device>();
}

Result<std::string> known_errors_of(Backend& backend) {
  KnownErrors* const errors = backend.capabilities().known_errors;
  return errors != nullptr ? errors->known_errors() : std::string();
}

std::string why_not(Backend& backend, std::string_view device) {
  for (UnavailablePart& part : backend.diagnosis(nullptr).unavailable) {
    if (part.name == device) return std::move(part.reason);
  }
  DeviceAdvice* const advice = backend.capabilities().device_advice;
  return advice != nullptr ? advice->why_not(device) : std::string();
}

}  // namespace latebind::core
