// Lines for ExecuTorch's log, which cuts each at 256 bytes: long texts are given in several, with what matters first.
//
// Any thread.
#pragma once

#include <executorch/runtime/core/error.h>

#include <string_view>

#include "latebind/latebind.hpp"

namespace latebind::delegate {

inline constexpr const char* kBackendId = "LatebindBackend";

enum class Level { kInfo, kError };

// "LatebindBackend: TEXT", cut at spaces into lines that fit; what is very long is cut off.
void say(Level level, std::string_view text);

// What Latebind's code is in ExecuTorch's words. DelegateInvalidCompatibility is for "no device here takes this
// payload" alone.
[[nodiscard]] ::executorch::runtime::Error error_of(lb_code code);

// The calling thread's last error of Latebind, said with `what` before it and translated.
::executorch::runtime::Error say_last_error(std::string_view what, lb_code code);
// The same for an outcome that was kept, which is none of success.
::executorch::runtime::Error say_status(std::string_view what, const Status& status);

}  // namespace latebind::delegate
