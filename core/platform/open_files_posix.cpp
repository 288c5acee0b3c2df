#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "core/platform/open_files.h"

namespace latebind::platform {

std::size_t allow_open_files(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < wanted) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min<rlim_t>(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max() : limit.rlim_cur;
}

}  // namespace latebind::platform
