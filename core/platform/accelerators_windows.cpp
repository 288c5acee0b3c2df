#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/platform/accelerators.h"
#include "core/platform/windows_error.h"
// The headers below need the types of windows.h.
#include <cfgmgr32.h>
#include <devpropdef.h>
#include <setupapi.h>

namespace latebind::platform {
namespace {

// The classes of the device tree, and the version of a device's driver; not every SDK declares them.
constexpr GUID kDisplay{0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};
constexpr GUID kComputeAccelerator{0xf01a9d53, 0x3ff6, 0x48d2, {0x9f, 0x97, 0xc8, 0xa7, 0x00, 0x4b, 0xe1, 0x0c}};
constexpr DEVPROPKEY kDriverVersion{{0xa8b865dd, 0x2e3d, 0x4094, {0xad, 0x97, 0xe5, 0x93, 0xa7, 0x0c, 0x75, 0xd6}}, 3};

std::string clean(std::wstring_view text) {
  std::string result = utf8_of(text.substr(0, text.find(L'\0')));
  std::ranges::replace_if(
      result, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  if (result.size() > kAcceleratorTextMax) result.resize(kAcceleratorTextMax);
  return result;
}

// One list of devices, released at the end of the scope.
class DeviceSet {
 public:
  explicit DeviceSet(const GUID& of) : set_(::SetupDiGetClassDevsW(&of, nullptr, nullptr, DIGCF_PRESENT)) {}
  DeviceSet(const DeviceSet&) = delete;
  DeviceSet& operator=(const DeviceSet&) = delete;
  ~DeviceSet() {
    if (set_ != INVALID_HANDLE_VALUE) ::SetupDiDestroyDeviceInfoList(set_);
  }
  bool at(DWORD number, SP_DEVINFO_DATA& device) const {
    return set_ != INVALID_HANDLE_VALUE && ::SetupDiEnumDeviceInfo(set_, number, &device) != 0;
  }
  // Empty when the device has no such property. For a list it returns the first item.
  std::string text(SP_DEVINFO_DATA& device, DWORD property) const {
    std::array<wchar_t, 512> buffer{};
    DWORD kind = 0;
    constexpr DWORD kBytes = (buffer.size() - 1) * sizeof(wchar_t);
    if (::SetupDiGetDeviceRegistryPropertyW(set_, &device, property, &kind, reinterpret_cast<PBYTE>(buffer.data()),
                                            kBytes, nullptr) == 0) {
      return {};
    }
    return clean(std::wstring_view(buffer.data(), buffer.size()));
  }
  std::string driver_version(SP_DEVINFO_DATA& device) const {
    std::array<wchar_t, 128> buffer{};
    DEVPROPTYPE kind = 0;
    constexpr DWORD kBytes = (buffer.size() - 1) * sizeof(wchar_t);
    if (::SetupDiGetDevicePropertyW(set_, &device, &kDriverVersion, &kind, reinterpret_cast<PBYTE>(buffer.data()),
                                    kBytes, nullptr, 0) == 0) {
      return {};
    }
    return clean(std::wstring_view(buffer.data(), buffer.size()));
  }
  std::string instance(SP_DEVINFO_DATA& device) const {
    std::array<wchar_t, 512> buffer{};
    if (::SetupDiGetDeviceInstanceIdW(set_, &device, buffer.data(), static_cast<DWORD>(buffer.size()), nullptr) == 0) {
      return {};
    }
    return clean(std::wstring_view(buffer.data(), buffer.size()));
  }

 private:
  HDEVINFO set_;
};

// Returns the number after `word` in "PCI\VEN_8086&DEV_643E&…"; 0 if the word is absent.
std::uint32_t number_after(std::string_view id, std::string_view word) {
  const auto at = id.find(word);
  std::uint32_t number = 0;
  if (!id.starts_with("PCI\\") || at == std::string_view::npos) return 0;
  const std::string_view digits = id.substr(at + word.size(), 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

bool is_running(const SP_DEVINFO_DATA& device) {
  ULONG status = 0;
  ULONG problem = 0;
  return ::CM_Get_DevNode_Status(&status, &problem, device.DevInst, 0) == CR_SUCCESS && (status & DN_STARTED) != 0;
}

}  // namespace

// In the device tree, devices with and without a driver are in the same list. A node is the device's name in the tree;
// programs reach it only through the vendor's driver, so opening it is never refused.
std::vector<Accelerator> accelerators(const std::filesystem::path& /*root*/) {
  std::vector<Accelerator> found;
  const auto add_class = [&](const GUID& device_class, AcceleratorClass kind) {
    const DeviceSet set(device_class);
    SP_DEVINFO_DATA device{};
    device.cbSize = sizeof(device);
    for (DWORD number = 0; found.size() < kAcceleratorsMax && set.at(number, device); ++number) {
      const std::string id = set.text(device, SPDRP_HARDWAREID);
      Accelerator one;
      one.kind = kind;
      one.name = set.text(device, SPDRP_FRIENDLYNAME);
      if (one.name.empty()) one.name = set.text(device, SPDRP_DEVICEDESC);
      one.vendor_id = number_after(id, "VEN_");
      one.device_id = number_after(id, "DEV_");
      one.pci_address = set.text(device, SPDRP_LOCATION_INFORMATION);
      one.driver = set.text(device, SPDRP_SERVICE);
      one.driver_version = set.driver_version(device);
      if (!one.driver.empty() && is_running(device)) one.node = set.instance(device);
      found.push_back(std::move(one));
    }
  };
  add_class(kComputeAccelerator, AcceleratorClass::kCompute);
  add_class(kDisplay, AcceleratorClass::kRender);
  std::ranges::stable_partition(found, [](const Accelerator& one) { return !one.driver.empty(); });
  return found;
}

bool has_no_accelerator(const std::filesystem::path& /*root*/) {
  return false;
}

}  // namespace latebind::platform
