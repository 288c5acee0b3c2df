// The log. The library never prints; it passes lines to the sink that the program has set, if any.
//
// All functions may be called from any thread, and none throws. A sink is called on the thread that logs, and never
// while that thread holds a lock of Latebind, so a sink may call any function of Latebind. Code that may log while it
// holds a lock creates a LogHold before the lock. A sink is not called from within a vendor's call either: see
// log_from_vendor().
//
// A slow sink delays only threads that log, and at most kSinkCallsMax of them at a time. Lines of other threads are
// dropped meanwhile, and the next line that gets through reports their number. Lines that a sink makes Latebind log on
// its own thread are dropped silently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

enum class LogLevel : std::int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// The topic of a line, for a sink that receives the same information by other means.
enum class LogTopic : std::uint32_t {
  kGeneral = 1,
  kFailover = 2,  // devices that fail and recover while a model runs; attestations report them, too
  kVendor = 4,    // what vendors' libraries log; their errors are also returned as Status
};
// A sum of LogTopic values.
using LogTopics = std::uint32_t;
inline constexpr LogTopics kAllLogTopics = 7;

// The largest number of threads in the sink at one time.
inline constexpr std::size_t kSinkCallsMax = 16;
// The number of lines that may wait for the end of a LogHold, and that vendors' lines may wait for a thread of
// Latebind.
inline constexpr std::size_t kHeldLinesMax = 64;

// Where lines go. `level` is a LogLevel; `text` is one line without a line end, valid only during the call. If a sink
// throws, the exception and its line are dropped.
struct LogSink {
  void (*write)(void* context, std::int32_t level, const char* text) = nullptr;
  void* context = nullptr;

  // Makes a sink from an object that can be called with a level and a text. The object must live until another sink has
  // been set.
  template <class Callable>
  static LogSink to(Callable& callable) {
    return {[](void* object, std::int32_t level, const char* text) {
              (*static_cast<Callable*>(object))(static_cast<LogLevel>(level), std::string_view(text));
            },
            &callable};
  }
};

// Replaces the sink. A sink without `write` disables logging, which is also the initial state. When this returns, the
// previous sink runs on no thread and will not be called again, so its context may be destroyed; a sink must therefore
// not wait for a thread that is in this function. If a sink calls this function, it does not wait: no new call of the
// old sink begins, and the calls in progress, including this one, run to their end.
void set_log_sink(LogSink sink, LogLevel least = LogLevel::kInfo, LogTopics topics = kAllLogTopics) noexcept;

// Whether a line of this level would reach a sink, for callers whose text is expensive to build.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// Logs one line. A line for which there is no memory counts as dropped.
void log(LogLevel level, std::string_view text, LogTopic topic = LogTopic::kGeneral) noexcept;

// Logs a line from a vendor's library, which may hold its locks and run on its own thread. The line is passed on
// when a thread of Latebind next logs or ends a LogHold; every call of a vendor that logs is inside one.
void log_from_vendor(LogLevel level, std::string_view text) noexcept;

struct LogLine {
  LogLevel level;
  std::string text;
};

// While it lives, lines that its thread logs are held back. They are passed on in order when the thread's outermost
// LogHold ends. Declare it before the locks it is for.
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
  std::vector<LogLine> lines_;  // used by the outermost LogHold
};

}  // namespace latebind::core
