// What keeps a GPU or an NPU that the system knows from being used, in words: for the backends' diagnoses.
//
// Pure functions over what is passed in; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.h"
#include "core/platform/accelerators.h"
#include "core/vendor_search.h"

namespace latebind::core {

struct HardwareProblem {
  std::string status;  // what is wrong, in one line
  std::string remedy;  // what to do about it
};

// "8086:46a6": metadata PciId, of a note and of a device that knows its hardware.
inline constexpr const char* kPciId = "PciId";
[[nodiscard]] std::string pci_id(std::uint32_t vendor_id, std::uint32_t device_id);

// Of the system: no driver, or a node that may not be opened. Nothing when there is none. `kernel_module`: what drives
// such a device; `load_module`: what to do when nothing does.
[[nodiscard]] std::optional<HardwareProblem> problem_of_system(const platform::Accelerator& one,
                                                               std::string_view kernel_module,
                                                               std::string_view load_module, System system);

// A device on this hardware was tried, and works: so nothing is to be mended, whatever the system seemed to lack.
// NVIDIA's libraries, for one, need no node in /dev/dri.
void note_that_it_works(std::vector<HardwareNote>& notes, const Device& device);

// Without problems it is ready.
[[nodiscard]] HardwareNote hardware_note(std::string name, DeviceKind kind, const platform::Accelerator& one,
                                         const std::vector<HardwareProblem>& problems);

}  // namespace latebind::core
