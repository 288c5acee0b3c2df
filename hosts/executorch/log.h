// Lines for ExecuTorch's log, which cuts each at 256 bytes: long texts are split into several, with the most important
// part first.
//
// Any thread.
#pragma once

#include <executorch/runtime/core/error.h>

#include <string_view>

#include "latebind/latebind.hpp"

namespace latebind::delegate {

inline constexpr const char* kBackendId = "LatebindBackend";

// ExecuTorch's headers leave lines for debugging out, unless Latebind is built with ET_MIN_LOG_LEVEL=Debug.
enum class Level { kDebug, kInfo, kError };

// "LatebindBackend: TEXT", split at spaces into lines that fit; very long texts are cut off.
void say(Level level, std::string_view text);

// The ExecuTorch error for Latebind's code. DelegateInvalidCompatibility only means "no device here takes this
// payload".
[[nodiscard]] ::executorch::runtime::Error error_of(lb_code code);

// The calling thread's last error of Latebind, logged after `what` and translated.
::executorch::runtime::Error say_last_error(std::string_view what, lb_code code);
// The same for a stored outcome, which must not be success.
::executorch::runtime::Error say_status(std::string_view what, const Status& status);

}  // namespace latebind::delegate
