#include "core/device.h"

namespace latebind::core {

bool Device::is_virtual() const {
  const auto found = metadata.find("IsVirtual");
  return found != metadata.end() && found->second == "1";
}

}  // namespace latebind::core
