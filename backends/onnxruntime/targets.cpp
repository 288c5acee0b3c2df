#include "backends/onnxruntime/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace latebind::onnxruntime {
namespace {

// One system for each architecture. The numbers are the vendor's; its compiler writes the system's name into its
// output: 39 SA8295, 36 SM8450, 60 SC8380XP, 57 SM8650, 69 SM8750, 87 SM8850.
constexpr std::array kHexagon{
    Target{"v68", 68, 39, "Qualcomm Hexagon v68 (SA8295P)"},
    Target{"v69", 69, 36, "Qualcomm Hexagon v69 (Snapdragon 8 Gen 1)"},
    Target{"v73", 73, 60, "Qualcomm Hexagon v73 (Snapdragon X Elite)"},
    Target{"v75", 75, 57, "Qualcomm Hexagon v75 (Snapdragon 8 Gen 3)"},
    Target{"v79", 79, 69, "Qualcomm Hexagon v79 (Snapdragon 8 Elite)"},
    Target{"v81", 81, 87, "Qualcomm Hexagon v81 (Snapdragon 8 Elite Gen 5)"},
};

// In the order of their dependencies. The provider itself opens cuDNN and cuFFT by name.
constexpr std::array<std::string_view, 7> kOfCuda{"cudart", "nvrtc", "cublasLt", "cublas", "curand", "cufft", "cudnn"};
constexpr std::array<std::string_view, 3> kOfTensorRtRtx{"cudart", "tensorrt_rtx", "tensorrt_onnxparser_rtx"};
// Otherwise matrix products round their factors to 10 bits.
constexpr std::array kExactly{DefaultOption{"use_tf32", "0"}};
constexpr std::string_view kCudaDriver = "libcuda.so.1";
constexpr std::string_view kCudaDriverOnWindows = "nvcuda.dll";

constexpr std::array kKnown{
    KnownProvider{.short_name = "QNN",
                  .provider = "QNNExecutionProvider",
                  .library_stem = "onnxruntime_providers_qnn",
                  .package_folder = "onnxruntime_qnn",
                  .package = "onnxruntime-qnn",
                  .compiler_stem = "QnnHtp",
                  .targets = kHexagon},
    KnownProvider{.short_name = "OpenVINO",
                  .provider = "OpenVINOExecutionProvider",
                  .library_stem = "onnxruntime_providers_openvino_plugin",
                  .package_folder = "onnxruntime_ep_openvino",
                  .package = "onnxruntime-ep-openvino"},
    // Its package is a build of ONNX Runtime that contains it and replaces the plain one.
    KnownProvider{.short_name = "CUDA",
                  .provider = kCudaProvider,
                  .library_stem = "onnxruntime_providers_cuda",
                  .package_folder = "onnxruntime/capi",
                  .package = R"("onnxruntime-gpu[cuda,cudnn]")",
                  .compiles = false,
                  .of_runtime = true,
                  .needs = {kCudaDriver, kCudaDriverOnWindows, kOfCuda, "nvidia"},
                  .options = kExactly,
                  .gpus_of = kNvidia},
    // Works with any GPU, through Vulkan or Direct3D 12. The driver compiles its kernels on first use.
    KnownProvider{
        .short_name = "WebGpu",
        .provider = kWebGpuProvider,
        .library_stem = "onnxruntime_providers_webgpu",
        .package_folder = "onnxruntime_ep_webgpu",
        .package = "onnxruntime-ep-webgpu",
        .compiles = false,
        .one_session_at_a_time = true,
        .explanation = {"Failed to get a WebGPU adapter",
                        "no Vulkan driver supports this GPU and what WebGPU needs: install the vendor's driver and "
                        "Vulkan's loader (Debian: sudo apt install mesa-vulkan-drivers)",
                        "no graphics driver supports what WebGPU needs: install the newest driver of the GPU's vendor"},
        .why_one_precision = "WebGPU computes in the precision of the model, which is f32, and its provider does not "
                             "report whether an adapter supports f16 (shader-f16)",
        .gpus_of = 0},
    // After WebGPU, since it has not been run with Latebind yet.
    KnownProvider{.short_name = "TensorRtRtx",
                  .provider = "NvTensorRTRTXExecutionProvider",
                  .library_stem = "onnxruntime_providers_nv_tensorrt_rtx",
                  .package_folder = "onnxruntime_ep_nv_tensorrt_rtx",
                  .package = "onnxruntime-ep-nv-tensorrt-rtx",
                  .compiles = false,
                  .needs = {kCudaDriver, kCudaDriverOnWindows, kOfTensorRtRtx, "nvidia"},
                  .gpus_of = kNvidia},
};

}  // namespace

std::span<const KnownProvider> known_providers() {
  return kKnown;
}

const KnownProvider* known_provider(std::string_view provider) {
  const auto* const found = std::ranges::find(kKnown, provider, &KnownProvider::provider);
  return found == kKnown.end() ? nullptr : found;
}

const KnownProvider* known_provider_of_device(std::string_view device) {
  const auto* const found = std::ranges::find(kKnown, device.substr(0, device.find('.')), &KnownProvider::short_name);
  return found == kKnown.end() ? nullptr : found;
}

core::Status explained(const KnownProvider& known, const core::Status& failure, core::System system) {
  const Explanation& one = known.explanation;
  if (one.says.empty() || failure.to_string().find(one.says) == std::string::npos) return failure;
  return failure.with_context(system == core::System::kWindows ? one.means_on_windows : one.means);
}

bool only_compiles(std::string_view provider, core::DeviceKind kind) {
  const KnownProvider* const known = known_provider(provider);
  return kind == core::DeviceKind::kCpu && known != nullptr && !known->targets.empty();
}

bool is_named(std::string_view file_name, std::string_view library) {
  return file_name.starts_with(library) && (file_name.size() == library.size() || file_name[library.size()] == '.');
}

const KnownProvider* known_provider_of_file(std::string_view file_name, core::System system) {
  for (const KnownProvider& known : kKnown) {
    if (is_named(file_name, core::library_name(known.library_stem, system))) return &known;
  }
  return nullptr;
}

core::Result<TargetName> find_target(std::string_view device_name) {
  const auto dot = device_name.find('.');
  const std::string_view short_name = device_name.substr(0, dot);
  const auto* const known = std::ranges::find(kKnown, short_name, &KnownProvider::short_name);
  if (dot == std::string_view::npos || known == kKnown.end() || known->targets.empty()) return TargetName{};
  const std::string_view architecture = device_name.substr(dot + 1);
  // "QNN.NPU.1" is one of several real devices.
  if (!architecture.starts_with('v')) return TargetName{};
  std::vector<std::string_view> names;
  for (const Target& target : known->targets) {
    if (target.architecture == architecture) return TargetName{known, &target};
    names.push_back(target.architecture);
  }
  const auto unknown = core::unknown_word_error(fmt::format("architecture of {}", short_name), architecture, names);
  return core::Status(core::StatusCode::kDeviceNotFound, std::string(unknown.message()));
}

std::string install_command(const KnownProvider& known) {
  return core::pip_command(known.package, core::own_system());
}

std::string install_command_with_runtime(const KnownProvider& known) {
  if (known.of_runtime) return install_command(known);
  return core::pip_command(fmt::format("onnxruntime {}", known.package), core::own_system());
}

std::string device_name(const TargetName& name) {
  return fmt::format("{}.{}", name.provider->short_name, name.target->architecture);
}

bool is_emulated(core::System system, std::string_view architecture) {
  return system == core::System::kLinux && architecture == "x86_64";
}

ProviderOptions provider_options(const Target& target, const std::string& compiler_file) {
  return {{"backend_path", compiler_file},
          {"htp_arch", std::to_string(target.htp_arch)},
          {"soc_model", std::to_string(target.soc_model)},
          {"enable_htp_fp16_precision", "1"}};
}

bool is_for_another(const Target& target, std::string_view compatibility) {
  // The form is v2:backend:version:version:architecture:system:…
  constexpr std::string_view kForm = "v2:";
  constexpr int kArchitecturePlace = 4;
  if (!compatibility.starts_with(kForm)) return false;
  for (int i = 0; i < kArchitecturePlace; ++i) {
    const auto colon = compatibility.find(':');
    if (colon == std::string_view::npos) return false;
    compatibility.remove_prefix(colon + 1);
  }
  return compatibility.substr(0, compatibility.find(':')) != std::to_string(target.htp_arch);
}

core::Device virtual_device(const TargetName& name, const std::string& compiler_file,
                            const std::string& runtime_version) {
  core::Device device;
  device.backend = "onnxruntime";
  device.name = device_name(name);
  device.kind = core::DeviceKind::kNpu;
  device.full_name = name.target->full_name;
  device.runtime_version = runtime_version;
  device.traits.architecture = name.target->architecture;
  device.traits.provider = name.provider->provider;
  device.traits.precisions = {core::Precision::kF16};
  device.metadata["SocModel"] = std::to_string(name.target->soc_model);
  core::VirtualTraits& traits = device.traits.virtual_device.emplace();
  if (compiler_file.empty()) {
    traits.compiler = core::TargetCompiler::kMissing;
    traits.missing = fmt::format("{} with its compiler {}: {}", name.provider->provider,
                                 core::library_name(name.provider->compiler_stem, core::own_system()),
                                 install_command(*name.provider));
  } else {
    traits.compiler = core::TargetCompiler::kInstalled;
    traits.is_emulated = is_emulated(core::own_system(), core::own_architecture());
    device.metadata["Compiler"] = compiler_file;
  }
  return device;
}

}  // namespace latebind::onnxruntime
