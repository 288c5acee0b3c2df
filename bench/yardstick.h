// What every yardstick that calls OpenVINO's C interface by itself needs.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "backends/openvino/abi.h"

namespace latebind::bench {

// There is nothing to measure after an error.
[[noreturn]] inline void die(std::string_view why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

// Ends the program when a call failed.
struct Check {
  const openvino::abi::Api& api;

  void operator()(openvino::abi::Code code, const char* call) const {
    if (code != openvino::abi::kOk) die(fmt::format("{}: {} ({})", call, api.ov_get_last_err_msg(), code));
  }
};

}  // namespace latebind::bench
