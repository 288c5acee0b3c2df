#include "core/text/utf8_wide.h"

namespace latebind::core {

std::size_t utf8_wide_prefix(std::string_view /*text*/) {
  return 0;
}

}  // namespace latebind::core
