#include "core/vendor/hardware_note.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace latebind::core {
namespace {

using platform::Accelerator;

HardwareProblem not_allowed(const Accelerator& one) {
  const std::string status = fmt::format("its driver {} is loaded, but you may not open {}", one.driver, one.node);
  const bool group_helps = one.open_to_its_group && !one.group.empty() && one.group != "root";
  if (group_helps) {
    return {status,
            fmt::format("add yourself to the group {0}: sudo usermod -aG {0} $USER, then log in again", one.group)};
  }
  return {status,
          fmt::format(
              "its group ({0}) does not help: sudo chgrp render {1} && sudo chmod g+rw {1}, and join the group render",
              one.group.empty() ? "none" : one.group, one.node)};
}

}  // namespace

std::optional<HardwareProblem> problem_of_system(const Accelerator& one, std::string_view kernel_module,
                                                 std::string_view load_module, System system) {
  if (one.driver.empty()) {
    return HardwareProblem{fmt::format("no driver is loaded (module {})", kernel_module), std::string(load_module)};
  }
  if (system == System::kWindows) {
    if (!one.node.empty()) return std::nullopt;
    return HardwareProblem{fmt::format("its driver {} is not running", one.driver),
                           "look at it in the Device Manager, or install the driver again"};
  }
  if (one.node.empty()) {
    return HardwareProblem{fmt::format("its driver {} has not created a device node", one.driver),
                           fmt::format("read the driver's messages: sudo dmesg | grep {}", one.driver)};
  }
  if (one.open_error == 0) return std::nullopt;
  if (one.open_error == EACCES || one.open_error == EPERM) return not_allowed(one);
  if (one.open_error == ENOENT) {
    return HardwareProblem{fmt::format("its driver {} is loaded, but {} does not exist", one.driver, one.node),
                           fmt::format("in a container, start it with --device {}", one.node)};
  }
  return HardwareProblem{fmt::format("its driver {} is loaded, but {} cannot be opened: {}", one.driver, one.node,
                                     std::generic_category().message(one.open_error)),
                         fmt::format("read the driver's messages: sudo dmesg | grep {}", one.driver)};
}

std::string pci_id(std::uint32_t vendor_id, std::uint32_t device_id) {
  return fmt::format("{:04x}:{:04x}", vendor_id, device_id);
}

void note_that_it_works(std::vector<HardwareNote>& notes, const Device& device) {
  for (HardwareNote& note : notes) {
    if (note.pci_id.empty() || note.pci_id != device.traits.pci_id) continue;
    note.ready = true;
    note.status = "ready";
    note.remedy.clear();
  }
}

HardwareNote hardware_note(std::string name, DeviceKind kind, const Accelerator& one,
                           const std::vector<HardwareProblem>& problems) {
  HardwareNote note;
  note.name = std::move(name);
  note.kind = kind;
  note.node = one.node;
  note.ready = problems.empty();
  if (note.ready) note.status = "ready";
  for (const HardwareProblem& problem : problems) {
    note.status += (note.status.empty() ? "" : "; ") + problem.status;
    note.remedy += (note.remedy.empty() ? "" : "; then ") + problem.remedy;
  }
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) note.metadata[key] = value;
  };
  note.pci_id = pci_id(one.vendor_id, one.device_id);
  add("PciId", note.pci_id);
  add("PciAddress", one.pci_address);
  add("Driver", one.driver);
  add("DriverVersion", one.driver_version);
  add("FirmwareVersion", one.firmware_version);
  add("Group", one.group);
  return note;
}

}  // namespace latebind::core
