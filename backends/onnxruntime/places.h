// Places: where a model can be compiled or run with ONNX Runtime, by the name of the device.
//
// Functions without state, for any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/plugin_providers.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/targets.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

inline constexpr std::string_view kBackendName = "onnxruntime";
// ONNX Runtime's own CPU, which needs no plugin provider.
inline constexpr std::string_view kCpu = "CPU";

// The vendor's state that all queries share.
struct Vendor {
  std::shared_ptr<const Environment> environment;
  std::shared_ptr<PluginProviders> plugins;
};

// A provider's device, and the provider's options for it.
struct Place {
  PluginUse use;
  std::string device;
  std::string full_name;
  std::string provider;
  std::string library;
  core::Precision computes_in = core::Precision::kF32;
  TargetName target{};  // for a virtual device
};

// Returns the place of this name, or why it cannot be used.
[[nodiscard]] core::Result<Place> find_place(const Vendor& vendor, std::string_view device);
// Like find_place(), for a place that runs models with these options.
[[nodiscard]] core::Result<Place> find_place_to_run(const Vendor& vendor, std::string_view device,
                                                    const core::CompileOptions& options);

// Whether the provider compiles ahead of time.
[[nodiscard]] bool compiles(const Place& place);

// The default precision of a provider's device. Providers do not report it, but it is known for Qualcomm's NPUs.
[[nodiscard]] core::Precision computes_in(const PluginDevice& device);

// Checks the precision. Some devices can be set to a precision; the others compute in that of the model, f32.
[[nodiscard]] core::Status check_precision(std::string_view device, core::Precision computes_in,
                                           const core::CompileOptions& options, std::string_view provider = {});

// Checks, by its label, whether the blob can have been made for this device and this version.
[[nodiscard]] core::Status check_label(const Library& library, const core::BlobLabel& label, std::string_view device,
                                       const core::CompileOptions& options);

}  // namespace latebind::onnxruntime
