#include "core/platform/accelerators.h"

namespace latebind::platform {

// The device tree of Windows is not asked yet: what a vendor's library lists is all that is known there.
std::vector<Accelerator> accelerators(const std::filesystem::path& /*root*/) {
  return {};
}

}  // namespace latebind::platform
