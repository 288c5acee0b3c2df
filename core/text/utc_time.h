// Points in time as text: "2026-11-21T13:05:09Z" (RFC 3339). Pure functions, for any thread.
#pragma once

#include <chrono>
#include <string>

namespace latebind::core {

// utc_text() is precise to the second; utc_text_ms() adds milliseconds: "2026-11-21T13:05:09.042Z".
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);
[[nodiscard]] std::string utc_text_ms(std::chrono::system_clock::time_point time);

}  // namespace latebind::core
