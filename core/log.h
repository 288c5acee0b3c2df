// The log: the library never prints; it hands lines to the sink that the program has set, or to nobody.
//
// All functions may be called from any thread. The sink is called under no lock of ours except the one that keeps it
// alive, must not throw, and must not set another sink.
#pragma once

#include <functional>
#include <string_view>

namespace latebind::core {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// `text` is one line without a line end, valid during the call only.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

// Replaces the sink; an empty function means silence, which is also the state at start-up.
void set_log_sink(LogSink sink, LogLevel least = LogLevel::kInfo);

// True when a line of this level would reach a sink: for callers whose text is costly to make.
[[nodiscard]] bool log_enabled(LogLevel level);

void log(LogLevel level, std::string_view text);

}  // namespace latebind::core
