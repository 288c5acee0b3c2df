#include "core/device.h"

namespace latebind::core {

bool Device::is_virtual() const {
  const auto found = metadata.find("IsVirtual");
  return found != metadata.end() && found->second == "1";
}

std::string Device::target() const {
  std::string target(word_of(kind));
  const auto found = metadata.find("Architecture");
  if (kind != DeviceKind::kCpu && found != metadata.end()) target += ":" + found->second;
  return target;
}

}  // namespace latebind::core
