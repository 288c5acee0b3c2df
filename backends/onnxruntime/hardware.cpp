#include "backends/onnxruntime/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "backends/onnxruntime/targets.h"
#include "core/vendor/hardware_note.h"

namespace latebind::onnxruntime {
namespace {

using core::Device;
using core::DeviceKind;
using core::HardwareNote;
using core::HardwareProblem;
using platform::Accelerator;

struct Maker {
  std::uint32_t vendor_id = 0;  // PCI vendor id
  std::string_view name;        // "AMD"
  std::string_view kernel_module;
  std::string_view load_module;  // what to do if no driver is bound to the device
};
constexpr std::array kMakers{
    Maker{0x8086, "Intel", "i915 or xe", "sudo modprobe i915, or xe for newer GPUs"},
    Maker{0x1002, "AMD", "amdgpu", "sudo modprobe amdgpu"},
    Maker{kNvidia, "NVIDIA", "nvidia", "install NVIDIA's driver (package nvidia-driver)"},
};
constexpr Maker kOther{0, "", "its maker's", "install the vendor's driver"};

const Maker& maker_of(const Accelerator& one) {
  const auto* const found = std::ranges::find(kMakers, one.vendor_id, &Maker::vendor_id);
  return found != kMakers.end() ? *found : kOther;
}

std::string name_of(const Accelerator& one, const Maker& maker) {
  return fmt::format("{}{}GPU (PCI {:04x}:{:04x})", maker.name, maker.name.empty() ? "" : " ", one.vendor_id,
                     one.device_id);
}

}  // namespace

std::vector<HardwareNote> hardware_notes(std::span<const Accelerator> found,
                                         const core::Result<std::vector<Device>>& devices, core::System system) {
  std::vector<HardwareNote> notes;
  for (const Accelerator& one : found) {
    if (one.kind != platform::AcceleratorClass::kRender) continue;
    const Maker& maker = maker_of(one);
    const std::string_view load_module =
        system == core::System::kWindows ? "install the vendor's graphics driver" : maker.load_module;
    std::vector<HardwareProblem> problems;
    if (auto problem = core::problem_of_system(one, maker.kernel_module, load_module, system)) {
      problems.push_back(*std::move(problem));
    }
    const KnownProvider& provider = *known_provider(one.vendor_id == kNvidia ? kCudaProvider : kWebGpuProvider);
    const auto is_such = [&](const Device& device) {
      const KnownProvider* const known = known_provider(device.traits.provider);
      return device.kind == DeviceKind::kGpu && known != nullptr && known->is_for_gpus_of(one.vendor_id);
    };
    if (!devices.ok()) {
      problems.push_back({"ONNX Runtime, which would use it, is not installed or does not work",
                          install_command_with_runtime(provider)});
    } else if (std::ranges::none_of(*devices, is_such)) {
      problems.push_back({fmt::format("{}, which would use it, is not installed or does not work", provider.provider),
                          install_command(provider)});
    }
    notes.push_back(core::hardware_note(name_of(one, maker), DeviceKind::kGpu, one, problems));
  }
  return notes;
}

}  // namespace latebind::onnxruntime
