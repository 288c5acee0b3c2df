// What every yardstick that calls OpenVINO's C interface by itself needs.
#pragma once

#include <fmt/format.h>

#include "backends/openvino/abi.h"
#include "bench/die.h"

namespace latebind::bench {

// Ends the program when a call failed.
struct Check {
  const openvino::abi::Api& api;

  void operator()(openvino::abi::Code code, const char* call) const {
    if (code != openvino::abi::kOk) die(fmt::format("{}: {} ({})", call, api.ov_get_last_err_msg(), code));
  }
};

}  // namespace latebind::bench
