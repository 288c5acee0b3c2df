// Describes in words why a GPU or an NPU that the system knows cannot be used, for the backends' diagnoses.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/platform/accelerators.h"
#include "core/vendor/vendor_search.h"

namespace latebind::core {

struct HardwareProblem {
  std::string status;  // what is wrong, in one line
  std::string remedy;  // what to do about it
};

// Returns the PCI id, as HardwareNote::pci_id and DeviceTraits::pci_id: "8086:46a6".
[[nodiscard]] std::string pci_id(std::uint32_t vendor_id, std::uint32_t device_id);

// Returns the system's problem with this hardware: no driver, or a device node that may not be opened; std::nullopt if
// there is none. `kernel_module` is the driver of such hardware, and `load_module` what to do when no driver is loaded.
[[nodiscard]] std::optional<HardwareProblem> problem_of_system(const platform::Accelerator& one,
                                                               std::string_view kernel_module,
                                                               std::string_view load_module, System system);

// Marks the notes of the hardware on which `device` runs as ready, because the device was tried and works. This
// overrides what the system seemed to lack: NVIDIA's libraries, for one, need no node in /dev/dri.
void note_that_it_works(std::vector<HardwareNote>& notes, const Device& device);

// Makes a note of this hardware and its problems. Without problems it is ready.
[[nodiscard]] HardwareNote hardware_note(std::string name, DeviceKind kind, const platform::Accelerator& one,
                                         const std::vector<HardwareProblem>& problems);

}  // namespace latebind::core
