// Writes to ExecuTorch's log, which cuts each line at 256 bytes: long texts are split into several lines, with the most
// important part first.
//
// Any thread.
#pragma once

#include <executorch/runtime/core/error.h>

#include <string_view>

#include "latebind/latebind.hpp"

namespace latebind::delegate {

inline constexpr const char* kBackendId = "LatebindBackend";

// ExecuTorch's headers omit debug lines unless Latebind is built with ET_MIN_LOG_LEVEL=Debug.
enum class Level { kDebug, kInfo, kError };

// Logs "LatebindBackend: TEXT", split at spaces into lines that fit; very long texts are truncated.
void say(Level level, std::string_view text);

// The ExecuTorch error for Latebind's code. DelegateInvalidCompatibility always means that no device here takes the
// payload.
[[nodiscard]] ::executorch::runtime::Error error_of(lb_code code);

// Logs the calling thread's last error of Latebind after `what`, and returns ExecuTorch's code for it.
::executorch::runtime::Error say_last_error(std::string_view what, lb_code code);
// The same for a stored status, which must not be success.
::executorch::runtime::Error say_status(std::string_view what, const Status& status);

}  // namespace latebind::delegate
