// The log: the library never prints; it passes lines to the sink that the program has set, if any.
//
// All functions may be called from any thread, and none throws. A sink is called on the thread that logs, and never
// under one of Latebind's locks, so that it may call any function of Latebind: code that may log while it holds a lock
// creates a LogHold before it. Nor is a sink called within a vendor's call: see log_from_vendor().
//
// A slow sink holds up only threads that log, and at most kSinkCallsMax of them at a time: lines of others are dropped
// meanwhile, and the next line that gets through says how many. What a sink makes Latebind log on its own thread is
// dropped silently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

enum class LogLevel : std::int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// What a line is about, for a sink that learns of it by other means.
enum class LogTopic : std::uint32_t {
  kGeneral = 1,
  kFailover = 2,  // devices that fail and recover while a model runs, as attestations report
  kVendor = 4,    // what vendors' libraries log; their errors are returned as Status, too
};
// LogTopic values, added.
using LogTopics = std::uint32_t;
inline constexpr LogTopics kAllLogTopics = 7;

// Threads in the sink at one time.
inline constexpr std::size_t kSinkCallsMax = 16;
// Lines that wait for the end of a LogHold, and as many from vendors that wait for one of Latebind's threads.
inline constexpr std::size_t kHeldLinesMax = 64;

// `level` is a LogLevel; `text` is one line without a line end, valid during the call only. An exception from a sink is
// swallowed with its line.
struct LogSink {
  void (*write)(void* context, std::int32_t level, const char* text) = nullptr;
  void* context = nullptr;

  // Refers to an object that can be called with a level and a text, and that lives until another sink has been set.
  template <class Callable>
  static LogSink to(Callable& callable) {
    return {[](void* object, std::int32_t level, const char* text) {
              (*static_cast<Callable*>(object))(static_cast<LogLevel>(level), std::string_view(text));
            },
            &callable};
  }
};

// Replaces the sink; one without `write` means no logging, which is also the state at start-up. When this returns, the
// previous sink runs on no thread and will not be called again, so that its context may be destroyed; a sink must
// therefore not wait for a thread that is in here. Called from within a sink this does not wait: no new call of the old
// sink begins, and those in progress, including this one, run to their end.
void set_log_sink(LogSink sink, LogLevel least = LogLevel::kInfo, LogTopics topics = kAllLogTopics) noexcept;

// True when a line of this level would reach a sink: for callers whose text is expensive to build.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// A line for which there is no memory counts as dropped.
void log(LogLevel level, std::string_view text, LogTopic topic = LogTopic::kGeneral) noexcept;

// A line from a vendor's library, possibly under its locks and on a thread of its own: it is passed on when one of
// Latebind's threads logs or ends a LogHold, such as there is around every call of a vendor that logs.
void log_from_vendor(LogLevel level, std::string_view text) noexcept;

struct LogLine {
  LogLevel level;
  std::string text;
};

// While it lives, what its thread logs is kept, and passed on in order when the thread's outermost one ends. It is
// declared before the locks that it is for.
class LogHold {
 public:
  LogHold() noexcept;
  ~LogHold();
  LogHold(const LogHold&) = delete;
  LogHold& operator=(const LogHold&) = delete;

 private:
  friend void log(LogLevel level, std::string_view text, LogTopic topic) noexcept;
  friend void log_from_vendor(LogLevel level, std::string_view text) noexcept;

  const bool outermost_;
  std::vector<LogLine> lines_;  // of the outermost one
};

}  // namespace latebind::core
