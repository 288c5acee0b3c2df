#include "core/device.h"

namespace latebind::core {

std::string Device::metadata_at(const std::string& key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

bool Device::is_virtual() const {
  return metadata_at("IsVirtual") == "1";
}

std::string Device::target() const {
  std::string target(word_of(kind));
  // What the vendors call the architecture of a GPU is a sentence, and no two call it alike.
  const std::string architecture = kind == DeviceKind::kNpu ? metadata_at("Architecture") : std::string();
  if (!architecture.empty()) target += ":" + architecture;
  return target;
}

}  // namespace latebind::core
