// BackendDiagnosis: what a backend reports about itself, for reports, errors and the order of devices. Values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/device.h"

namespace latebind::core {

// One place where a vendor library was looked for, and the outcome: the trace that `latebind doctor` prints.
struct SearchStep {
  std::string place;    // a path, or a variable that is not set
  std::string source;   // the rule that led there: "OPENVINO_LIB_PATH", "active Python environment" …
  std::string outcome;  // "opened", "no such file", or the loader's own message
  bool opened = false;
};

// A part of an available backend that cannot be used, such as another vendor's plugin.
struct UnavailablePart {
  std::string name;
  std::string reason;
};

// Hardware in this machine that concerns a backend, and whether the backend can use it.
struct HardwareNote {
  std::string name;  // "Intel NPU 4000"
  DeviceKind kind = DeviceKind::kOther;
  std::string node;  // "/dev/accel/accel0"; empty when no driver has created one
  bool ready = false;
  std::string status;    // "ready", or what is wrong, in one line
  std::string remedy;    // what to do about it, in one line; empty when ready
  std::string pci_id{};  // as DeviceTraits::pci_id
  // What the system reports: Driver, DriverVersion, FirmwareVersion, PciId, PciAddress, Group.
  std::map<std::string, std::string> metadata{};
};

struct BackendDiagnosis {
  // Every place tried by the last attempt to open the library.
  std::vector<SearchStep> search{};
  // Parts that were found and cannot be used, while the rest works.
  std::vector<UnavailablePart> unavailable{};
  // The vendor's hardware in this machine, whether the backend is available or not.
  std::vector<HardwareNote> hardware{};
  // The command that installs the vendor's library, in one line.
  std::string install_hint{};
  // The backend needs no library: there is nothing to look for and nothing to install.
  bool is_built_in = false;
  // A missing library should be reported, because a setting or a variable names it, or because a library that was found
  // was left out as not trusted.
  bool library_is_expected = false;
  // The device that the backend would offer without one of its settings, if that setting is why it is not available.
  // The placement then reports the failure at that device's place in the order, because the user expects the setting to
  // take effect there.
  std::optional<Device> withheld_by_setting{};
};

}  // namespace latebind::core
