// The GPUs and NPUs that the operating system knows, without any vendor's library. accelerators() is for reports, never
// for correctness.
//
// Vendors are numbers here; only the backends know what a number means. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace latebind::platform {

enum class AcceleratorClass {
  kCompute,  // /sys/class/accel, on Windows the class ComputeAccelerator: NPUs and other computing processors
  kRender,   // /sys/class/drm, on Windows the class Display: GPUs
};

// A snapshot of one device. Texts come from drivers: they are printable ASCII of at most kAcceleratorTextMax bytes, and
// empty if the system does not report them.
struct Accelerator {
  AcceleratorClass kind = AcceleratorClass::kCompute;
  std::string name;                // "accel0", "renderD128"; the PCI address if no driver has created a node
  std::uint32_t vendor_id = 0;     // PCI vendor, such as 0x8086; 0 on another bus
  std::uint32_t device_id = 0;     // PCI device
  std::string pci_address;         // "0000:00:0b.0"
  std::string driver;              // "intel_vpu"; empty when no driver is bound
  std::string driver_version;      // of the kernel module
  std::string firmware_version;    // empty if the driver does not report it
  std::string node;                // "/dev/accel/accel0"; empty when no driver has created one
  int open_error = 0;              // errno that opening the node for reading and writing would give; 0 when permitted
  std::string group;               // the group of the node, by name, or by number if it has no name
  bool open_to_its_group = false;  // the node's group may read and write
};

inline constexpr std::size_t kAcceleratorsMax = 64;
inline constexpr std::size_t kAcceleratorTextMax = 128;

// Returns the devices, at most kAcceleratorsMax. Those with a node come first, by name: /sys/class/accel, then
// /sys/class/drm (render nodes). Other PCI devices of these two classes follow: they have no driver, or a driver with
// its own nodes (NVIDIA). On Windows it returns the devices of the device tree, whose names serve as nodes. `root`
// is the folder that contains sys and dev; tests pass another one. It opens no device.
[[nodiscard]] std::vector<Accelerator> accelerators(const std::filesystem::path& root = "/");

// Whether the system reports that it has no such device, whatever the driver: its list of PCI devices can be read and
// is not empty, none of them is of these two classes, and /dev has no folder or node for one. False if the system does
// not report it, as on Windows. Unlike accelerators(), this may be relied on: faster code paths depend on it.
[[nodiscard]] bool has_no_accelerator(const std::filesystem::path& root = "/");

}  // namespace latebind::platform
