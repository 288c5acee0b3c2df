#include "backends/openvino/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/vendor/hardware_note.h"

namespace latebind::openvino {
namespace {

using core::Device;
using core::DeviceKind;
using core::HardwareNote;
using platform::Accelerator;
using platform::AcceleratorClass;

constexpr std::uint32_t kIntel = 0x8086;

struct NpuId {
  std::uint32_t device_id;
  std::string_view architecture;
};
constexpr std::array kNpuIds{NpuId{0x7D1D, "3720"}, NpuId{0xAD1D, "3720"}, NpuId{0x643E, "4000"},
                             NpuId{0xB03E, "5010"}, NpuId{0xFD3E, "5020"}, NpuId{0xD71D, "6010"}};

// The differences between the two kinds of devices.
struct Kind {
  core::System system;
  DeviceKind kind;
  std::string_view word;           // "NPU"
  std::string_view kernel_module;  // "intel_vpu"
  std::string_view load_module;    // what to do if no driver is bound to the device
  std::string_view user_driver;    // what to install if OpenVINO does not list the device
};
constexpr Kind kNpu{
    core::System::kLinux,
    DeviceKind::kNpu,
    "NPU",
    "intel_vpu",
    "sudo modprobe intel_vpu (in Linux since 6.3; its firmware is in linux-firmware)",
    "install Intel's NPU driver packages (intel-level-zero-npu, intel-driver-compiler-npu) and the Level "
    "Zero loader (libze1)"};
constexpr Kind kGpu{core::System::kLinux,
                    DeviceKind::kGpu,
                    "GPU",
                    "i915 or xe",
                    "sudo modprobe i915, or xe for newer GPUs",
                    "install Intel's OpenCL driver (package intel-opencl-icd or intel-compute-runtime)"};
constexpr Kind kNpuOnWindows{core::System::kWindows,
                             DeviceKind::kNpu,
                             "NPU",
                             "npu",
                             "install Intel's NPU driver: by Windows Update, or from Intel's web site",
                             "install a newer version of Intel's NPU driver"};
constexpr Kind kGpuOnWindows{core::System::kWindows,
                             DeviceKind::kGpu,
                             "GPU",
                             "igfx",
                             "install Intel's graphics driver: by Windows Update, or from Intel's web site",
                             "install a newer version of Intel's graphics driver"};

std::string_view architecture_of(const Accelerator& one) {
  const auto* const found = std::ranges::find(kNpuIds, one.device_id, &NpuId::device_id);
  return found == kNpuIds.end() ? std::string_view() : found->architecture;
}

// Null if the device is not an Intel NPU or GPU; other devices have the same PCI class.
const Kind* kind_of(const Accelerator& one, core::System system) {
  const bool windows = system == core::System::kWindows;
  if (one.vendor_id != kIntel) return nullptr;
  if (one.kind == AcceleratorClass::kRender) return windows ? &kGpuOnWindows : &kGpu;
  const Kind& npu = windows ? kNpuOnWindows : kNpu;
  return one.driver == npu.kernel_module || !architecture_of(one).empty() ? &npu : nullptr;
}

std::string name_of(const Accelerator& one, const Kind& kind) {
  const std::string_view architecture = architecture_of(one);
  if (kind.kind == DeviceKind::kNpu && !architecture.empty()) return fmt::format("Intel NPU {}", architecture);
  return fmt::format("Intel {} (PCI {:04x}:{:04x})", kind.word, one.vendor_id, one.device_id);
}

bool is_listed(const Accelerator& one, const Kind& kind, const std::vector<Device>& devices) {
  const std::string_view architecture = architecture_of(one);
  return std::ranges::any_of(devices, [&](const Device& device) {
    if (device.kind != kind.kind || device.is_virtual()) return false;
    const std::string& said = device.traits.architecture;
    // Several NPUs differ in architecture. GPUs cannot be matched by what the two sides report.
    return kind.kind != DeviceKind::kNpu || architecture.empty() || said.empty() || said == architecture;
  });
}

}  // namespace

std::vector<HardwareNote> hardware_notes(std::span<const Accelerator> found,
                                         const core::Result<std::vector<Device>>& devices,
                                         const std::string& install_hint, core::System system) {
  std::vector<HardwareNote> notes;
  for (const Accelerator& one : found) {
    const Kind* const kind = kind_of(one, system);
    if (kind == nullptr) continue;
    std::vector<core::HardwareProblem> problems;
    if (auto problem = core::problem_of_system(one, kind->kernel_module, kind->load_module, system)) {
      problems.push_back(*std::move(problem));
    }
    if (!devices.ok()) {
      const bool absent = devices.status().code() == core::StatusCode::kLibraryNotFound;
      problems.push_back(
          {absent ? "OpenVINO, which would use it, is not found" : "OpenVINO, which would use it, does not work",
           install_hint});
    } else if (problems.empty() && !is_listed(one, *kind, *devices)) {
      problems.push_back({fmt::format("its user-space driver is missing: OpenVINO lists no such {}", kind->word),
                          std::string(kind->user_driver)});
    }
    notes.push_back(core::hardware_note(name_of(one, *kind), kind->kind, one, problems));
  }
  return notes;
}

}  // namespace latebind::openvino
