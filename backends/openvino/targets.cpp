#include "backends/openvino/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "backends/openvino/devices.h"
#include "core/config.h"
#include "core/text/ascii.h"

namespace latebind::openvino {
namespace {

constexpr std::string_view kPrefix = "NPU.";

constexpr std::array kTargets{
    NpuTarget{"3720", "Intel NPU 3720 (Meteor Lake, Arrow Lake)"},
    NpuTarget{"4000", "Intel NPU 4000 (Lunar Lake)"},
    NpuTarget{"5010", "Intel NPU 5010 (Panther Lake)"},
    NpuTarget{"5020", "Intel NPU 5020 (Wildcat Lake)"},
};

// Newer NPU plugins open a small loader that opens the compiler; older ones open the compiler itself.
constexpr std::array<std::string_view, 2> kCompilerStems{"openvino_intel_npu_compiler_loader",
                                                         "openvino_intel_npu_compiler"};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, core::is_ascii_digit);
}

}  // namespace

std::span<const NpuTarget> npu_targets() {
  return kTargets;
}

core::Result<const NpuTarget*> find_target(std::string_view device_name) {
  if (!device_name.starts_with(kPrefix)) return nullptr;
  const std::string_view architecture = device_name.substr(kPrefix.size());
  const auto* const found = std::ranges::find(kTargets, architecture, &NpuTarget::architecture);
  if (found != kTargets.end()) return found;
  std::vector<std::string_view> known;
  for (const NpuTarget& target : kTargets)
    known.push_back(target.architecture);
  const auto unknown = core::unknown_word_error("architecture of Intel's NPUs", architecture, known);
  return core::Status(core::StatusCode::kDeviceNotFound, std::string(unknown.message()));
}

std::string device_name(const NpuTarget& target) {
  return fmt::format("{}{}", kPrefix, target.architecture);
}

std::string npu_architecture(std::string_view vendor_word) {
  std::string_view rest = vendor_word;
  for (const std::string_view prefix : {"NPU", "VPUX", "VPU"}) {
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    break;
  }
  if (rest.starts_with('.')) rest.remove_prefix(1);
  return std::string(is_number(rest) ? rest : vendor_word);
}

std::string gpu_architecture(std::string_view vendor_text) {
  constexpr std::string_view kKey = "arch=";
  const auto key = vendor_text.find(kKey);
  if (key == std::string_view::npos) return std::string(vendor_text);
  const std::string_view word = vendor_text.substr(key + kKey.size());
  return std::string(word.substr(0, word.find_first_of(" ,;")));
}

std::string npu_compiler_file(const std::string& library_file, core::System system, const core::FileSystem& files) {
  const std::string_view separators = system == core::System::kWindows ? "/\\" : "/";
  const auto slash = library_file.find_last_of(separators);
  if (slash == std::string::npos) return {};
  for (const std::string_view stem : kCompilerStems) {
    std::string file = library_file.substr(0, slash + 1) + core::library_name(stem, system);
    if (files.kind_of(file) == core::FileSystem::Kind::kFile) return file;
  }
  return {};
}

std::string missing_npu_compiler(core::System system) {
  const std::string name = core::library_name(kCompilerStems.front(), system);
  if (system == core::System::kWindows) {
    return fmt::format("{}, which is in Intel's OpenVINO archive and Python package for Windows", name);
  }
  return fmt::format(
      "{}, which is in Intel's OpenVINO archive for Linux and not in the Python package (the compiler in Intel's NPU "
      "driver package works only for that driver): unpack the archive, and name its libopenvino_c.so with "
      "--openvino-library",
      name);
}

core::Device virtual_device(const NpuTarget& target, const std::string& compiler_file, const std::string& missing,
                            const std::string& runtime_version) {
  core::Device device;
  device.backend = kBackendName;
  device.name = device_name(target);
  device.kind = core::DeviceKind::kNpu;
  device.full_name = target.full_name;
  device.runtime_version = runtime_version;
  device.traits.architecture = target.architecture;
  device.traits.precisions = {core::Precision::kF16};
  if (compiler_file.empty()) {
    device.traits.virtual_device = {.compiler = core::TargetCompiler::kMissing, .missing = missing};
  } else {
    device.traits.virtual_device = {.compiler = core::TargetCompiler::kInstalled};
    device.metadata["Compiler"] = compiler_file;
  }
  return device;
}

}  // namespace latebind::openvino
