// How many random encoders a test draws.
#pragma once

#include <cstddef>
#include <string>

#include "core/platform/environment.h"

namespace latebind::test {

// Returns `count` times LATEBIND_TEST_ENCODERS_TIMES (1), divided by LATEBIND_TEST_ENCODERS_ONE_IN (1), which is for
// machines where everything is slow.
inline std::size_t encoders_to_draw(std::size_t count) {
  const auto one_in = std::stoul(platform::environment("LATEBIND_TEST_ENCODERS_ONE_IN").value_or("1"));
  const auto times = std::stoul(platform::environment("LATEBIND_TEST_ENCODERS_TIMES").value_or("1"));
  return (count * times + one_in - 1) / one_in;
}

}  // namespace latebind::test
