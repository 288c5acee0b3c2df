#include "core/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>

#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

constexpr int kSilent = 100;

struct LogState {
  Mutex mutex;
  Condition call_ended;
  LogSink sink LB_GUARDED_BY(mutex);
  std::uint64_t generation LB_GUARDED_BY(mutex) = 1;  // of the sink; increases with each replacement
  // The generation of each call in progress; 0 for a free place.
  std::array<std::uint64_t, kSinkCallsMax> calls LB_GUARDED_BY(mutex){};
  std::vector<LogLine> of_vendors LB_GUARDED_BY(mutex);  // lines that wait for a thread of Latebind
};

// A child made by fork() logs nothing until it sets a sink, because the parent's sink may need what the child does not
// have.
LogState& log_state() noexcept {
  static platform::PerProcess<LogState> instance;
  return instance.get();
}

std::atomic<int> g_least{kSilent};
std::atomic<std::uint64_t> g_dropped{0};  // since the last line that got through
std::atomic<bool> g_vendors_wait{false};
std::atomic<LogTopics> g_topics{kAllLogTopics};

thread_local LogHold* t_hold = nullptr;  // the thread's outermost one
thread_local bool t_in_sink = false;

bool is_wanted(LogLevel level, LogTopic topic) noexcept {
  return log_enabled(level) && (g_topics.load(std::memory_order_relaxed) & static_cast<LogTopics>(topic)) != 0;
}

void write(const LogSink& sink, LogLevel level, const char* text) noexcept {
  try {
    sink.write(sink.context, static_cast<std::int32_t>(level), text);
  } catch (...) {
    // An exception of the sink cannot be reported.
  }
}

void emit(LogLevel level, const char* text) noexcept {
  LogState& all = log_state();
  LogSink sink;
  std::size_t call = 0;
  {
    const MutexLock lock(all.mutex);
    if (!log_enabled(level) || all.sink.write == nullptr) return;
    while (call < all.calls.size() && all.calls[call] != 0)
      ++call;
    if (call == all.calls.size()) {
      ++g_dropped;
      return;
    }
    all.calls[call] = all.generation;
    sink = all.sink;
  }
  t_in_sink = true;
  if (const std::uint64_t dropped = g_dropped.exchange(0); dropped > 0) {
    std::array<char, 80> note{};
    (void)std::snprintf(note.data(), note.size(), "lines dropped from the log before this one: %llu",
                        static_cast<unsigned long long>(dropped));
    write(sink, LogLevel::kWarning, note.data());
  }
  write(sink, level, text);
  t_in_sink = false;
  {
    const MutexLock lock(all.mutex);
    all.calls[call] = 0;
  }
  all.call_ended.notify_all();
}

void keep(std::vector<LogLine>& lines, LogLevel level, std::string_view text) noexcept {
  try {
    if (lines.size() < kHeldLinesMax) {
      lines.push_back({level, std::string(text)});
      return;
    }
  } catch (const std::bad_alloc&) {  // treated as a full list
  }
  ++g_dropped;
}

void emit_lines_of_vendors() noexcept {
  if (!g_vendors_wait.load(std::memory_order_relaxed)) return;
  std::vector<LogLine> lines;
  {
    LogState& all = log_state();
    const MutexLock lock(all.mutex);
    lines.swap(all.of_vendors);
    g_vendors_wait.store(false, std::memory_order_relaxed);
  }
  for (const LogLine& line : lines)
    emit(line.level, line.text.c_str());
}

}  // namespace

void set_log_sink(LogSink sink, LogLevel least, LogTopics topics) noexcept {
  LogState& all = log_state();
  const MutexLock lock(all.mutex);
  all.sink = sink;
  const std::uint64_t generation = ++all.generation;
  all.of_vendors.clear();
  g_vendors_wait.store(false, std::memory_order_relaxed);
  g_topics.store(topics, std::memory_order_relaxed);
  g_dropped.store(0);
  g_least.store(sink.write == nullptr ? kSilent : static_cast<int>(least), std::memory_order_relaxed);
  if (t_in_sink) return;  // waiting could be for this call itself, or for one that waits for it
  all.call_ended.wait(all.mutex, [&]() LB_REQUIRES(all.mutex) {
    return std::ranges::none_of(all.calls, [&](std::uint64_t of) { return of != 0 && of < generation; });
  });
}

bool log_enabled(LogLevel level) noexcept {
  return static_cast<int>(level) >= g_least.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view text, LogTopic topic) noexcept {
  if (!is_wanted(level, topic) || t_in_sink) return;
  if (t_hold != nullptr) {
    keep(t_hold->lines_, level, text);
    return;
  }
  emit_lines_of_vendors();
  std::vector<LogLine> line;
  keep(line, level, text);
  if (!line.empty()) emit(level, line.front().text.c_str());
}

void log_from_vendor(LogLevel level, std::string_view text) noexcept {
  if (!is_wanted(level, LogTopic::kVendor) || t_in_sink) return;
  if (t_hold != nullptr) {
    keep(t_hold->lines_, level, text);
    return;
  }
  LogState& all = log_state();
  const MutexLock lock(all.mutex);
  keep(all.of_vendors, level, text);
  g_vendors_wait.store(true, std::memory_order_relaxed);
}

LogHold::LogHold() noexcept : outermost_(t_hold == nullptr) {
  if (outermost_) t_hold = this;
}

LogHold::~LogHold() {
  if (!outermost_) return;
  t_hold = nullptr;
  if (t_in_sink) return;
  emit_lines_of_vendors();
  for (const LogLine& line : lines_)
    emit(line.level, line.text.c_str());
}

}  // namespace latebind::core
