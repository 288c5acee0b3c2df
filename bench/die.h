// The end of a benchmark that cannot go on.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace latebind::bench {

// There is nothing to measure after an error.
[[noreturn]] inline void die(std::string_view why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

}  // namespace latebind::bench
