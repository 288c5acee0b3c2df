#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/platform/accelerators.h"
#include "core/platform/files/folder_entries.h"

namespace latebind::platform {
namespace {

namespace fs = std::filesystem;

// Enough for the largest machines, and a limit for folders that are not a sysfs.
constexpr std::size_t kEntriesMax = 4096;
constexpr std::size_t kFileMax = 4096;

// The first of the three bytes in /sys/bus/pci/devices/*/class, as the PCI standard defines them.
constexpr std::uint32_t kPciDisplay = 0x03;
constexpr std::uint32_t kPciAccelerator = 0x12;

// Returns the names in a folder that begin with `prefix`, "accel2" before "accel10"; empty when it cannot be read.
std::vector<std::string> names_in(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;
  std::size_t seen = 0;
  for_each_entry(folder, error, [&](const fs::path& entry) {
    std::string name = entry.filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
    return ++seen < kEntriesMax;
  });
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

std::string clean(std::string_view text) {
  std::string line(text.substr(0, std::min(text.find('\n'), kAcceleratorTextMax)));
  std::ranges::replace_if(
      line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

std::string content_of(const fs::path& file) {
  std::string text(kFileMax, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

std::string line_of(const fs::path& file) {
  return clean(content_of(file));
}

// Returns the number in a file such as "0x8086"; 0 when the file is missing or has other content.
std::uint32_t number_of(const fs::path& file) {
  const std::string text = line_of(file);
  std::string_view digits = text;
  if (!digits.starts_with("0x")) return 0;
  digits.remove_prefix(2);
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// Returns the value of "KEY=value" in a uevent file.
std::string uevent_value(const fs::path& device, std::string_view key) {
  const std::string text = content_of(device / "uevent");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=') {
      return clean(line.substr(key.size() + 1));
    }
  }
  return {};
}

std::string firmware_version(const fs::path& device) {
  for (const char* name : {"fw_version", "firmware_version", "fw_ver"}) {
    if (std::string version = line_of(device / name); !version.empty()) return version;
  }
  return {};
}

std::string group_name(::gid_t id) {
  std::array<char, 4096> memory{};
  struct ::group entry {};
  struct ::group* found = nullptr;
  if (::getgrgid_r(id, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr) {
    return clean(found->gr_name);
  }
  return std::to_string(id);
}

void look_at_node(const fs::path& root, Accelerator& one) {
  const fs::path node = root / one.node.substr(1);
  struct ::stat info {};
  if (::stat(node.c_str(), &info) == 0) {
    one.group = group_name(info.st_gid);
    one.open_to_its_group = (info.st_mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP);
  }
  if (::faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) != 0) one.open_error = errno;
}

Accelerator describe(const fs::path& device, AcceleratorClass kind) {
  Accelerator one;
  one.kind = kind;
  one.vendor_id = number_of(device / "vendor");
  one.device_id = number_of(device / "device");
  one.pci_address = uevent_value(device, "PCI_SLOT_NAME");
  std::error_code error;
  if (const auto driver = fs::read_symlink(device / "driver", error); !error)
    one.driver = clean(driver.filename().string());
  one.driver_version = line_of(device / "driver" / "module" / "version");
  one.firmware_version = firmware_version(device);
  return one;
}

// NVIDIA's driver has its own nodes, and DRM nodes only if a second module is loaded: "Device Minor: 0" is
// /dev/nvidia0. Empty for other drivers.
std::string own_node(const fs::path& root, const Accelerator& one) {
  if (one.driver != "nvidia") return {};
  const std::string text = content_of(root / "proc/driver/nvidia/gpus" / one.pci_address / "information");
  constexpr std::string_view kMinor = "Device Minor:";
  const auto at = text.find(kMinor);
  if (at == std::string::npos) return {};
  std::string_view digits = std::string_view(text).substr(at + kMinor.size());
  digits.remove_prefix(std::min(digits.find_first_not_of(" \t"), digits.size()));
  unsigned minor = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  return read.ec == std::errc() ? "/dev/nvidia" + std::to_string(minor) : std::string();
}

}  // namespace

std::vector<Accelerator> accelerators(const fs::path& root) {
  std::vector<Accelerator> found;
  const auto add_class = [&](const char* folder, const char* prefix, const std::string& nodes, AcceleratorClass kind) {
    for (const std::string& name : names_in(root / "sys/class" / folder, prefix)) {
      if (found.size() == kAcceleratorsMax) return;
      Accelerator one = describe(root / "sys/class" / folder / name / "device", kind);
      one.name = clean(name);
      one.node = nodes + clean(name);
      look_at_node(root, one);
      found.push_back(std::move(one));
    }
  };
  add_class("accel", "accel", "/dev/accel/", AcceleratorClass::kCompute);
  add_class("drm", "renderD", "/dev/dri/", AcceleratorClass::kRender);

  const fs::path pci = root / "sys/bus/pci/devices";
  for (const std::string& address : names_in(pci, "")) {
    if (found.size() == kAcceleratorsMax) break;
    const std::uint32_t pci_class = number_of(pci / address / "class") >> 16;
    if (pci_class != kPciDisplay && pci_class != kPciAccelerator) continue;
    const bool listed = std::ranges::any_of(found, [&](const Accelerator& one) { return one.pci_address == address; });
    if (listed) continue;
    Accelerator one =
        describe(pci / address, pci_class == kPciDisplay ? AcceleratorClass::kRender : AcceleratorClass::kCompute);
    one.name = clean(address);
    one.pci_address = one.name;
    one.node = own_node(root, one);
    if (!one.node.empty()) look_at_node(root, one);
    found.push_back(std::move(one));
  }
  return found;
}

bool has_no_accelerator(const fs::path& root) {
  std::error_code error;
  for (const char* node : {"dev/accel", "dev/dri", "dev/dxg"}) {
    if (fs::exists(root / node, error) || error) return false;
  }
  const fs::path pci = root / "sys/bus/pci/devices";
  const auto addresses = names_in(pci, "");
  return !addresses.empty() && std::ranges::none_of(addresses, [&](const std::string& address) {
    const std::uint32_t pci_class = number_of(pci / address / "class") >> 16;
    // 0 means that the file cannot be read; a device without a class has 0x00 there as well.
    return pci_class == 0 || pci_class == kPciDisplay || pci_class == kPciAccelerator;
  });
}

}  // namespace latebind::platform
