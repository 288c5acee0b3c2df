// The GPUs and NPUs that the operating system knows, without any vendor's library: accelerators() is for
// reports, never for correctness.
//
// Vendors are numbers here; only the backends know what a number means. Any thread may call these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace latebind::platform {

enum class AcceleratorClass {
  kCompute,  // /sys/class/accel, on Windows the class ComputeAccelerator: NPUs and other processors for computing
  kRender,   // /sys/class/drm, on Windows the class Display: GPUs
};

// A snapshot. Texts come from drivers: they are printable ASCII of at most kAcceleratorTextMax bytes, empty where the
// system does not report them.
struct Accelerator {
  AcceleratorClass kind = AcceleratorClass::kCompute;
  std::string name;                // "accel0", "renderD128"; the PCI address where no driver has created a node
  std::uint32_t vendor_id = 0;     // of PCI, 0x8086; 0: on another bus
  std::uint32_t device_id = 0;     // of PCI
  std::string pci_address;         // "0000:00:0b.0"
  std::string driver;              // "intel_vpu"; empty: none drives it
  std::string driver_version;      // of the kernel module
  std::string firmware_version;    // where the driver reports it
  std::string node;                // "/dev/accel/accel0"; empty: no driver has created one
  int open_error = 0;              // errno of opening the node for reading and writing; 0: permitted
  std::string group;               // the node's, by name, else by number
  bool open_to_its_group = false;  // the node's group may read and write
};

inline constexpr std::size_t kAcceleratorsMax = 64;
inline constexpr std::size_t kAcceleratorTextMax = 128;

// Those with a node first, by name: /sys/class/accel, /sys/class/drm (render nodes), then other devices of PCI of these
// two classes: nothing drives them, or a driver with nodes of its own (NVIDIA's); on Windows the device tree, whose
// names are nodes. At most kAcceleratorsMax. `root` is the folder that contains sys and dev: a fake one in tests. Opens
// no device.
[[nodiscard]] std::vector<Accelerator> accelerators(const std::filesystem::path& root = "/");

// Whether the system says that there is none, whatever drives it: its list of PCI's devices can be read and has some,
// none of them of these two classes, and /dev has no folder or node for one. False where the system does not say it, as
// on Windows. Unlike accelerators() it may be relied on: quicker ways are chosen by it.
[[nodiscard]] bool has_no_accelerator(const std::filesystem::path& root = "/");

}  // namespace latebind::platform
