#include "core/platform/open_files.h"

namespace latebind::platform {

std::size_t allow_open_files(std::size_t wanted) {
  return wanted;
}

}  // namespace latebind::platform
