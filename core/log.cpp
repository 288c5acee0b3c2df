#include "core/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace latebind::core {
namespace {

constexpr int kSilent = 100;

struct State {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;  // guarded by mutex
};

// Never destroyed: threads of a vendor library may still log while the process ends.
State& state() {
  static State* const instance = new State;
  return *instance;
}

std::atomic<int> g_least{kSilent};

}  // namespace

void set_log_sink(LogSink sink, LogLevel least) {
  const bool silent = !sink;
  auto shared = silent ? nullptr : std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard lock(state().mutex);
  state().sink = std::move(shared);
  g_least.store(silent ? kSilent : static_cast<int>(least), std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) {
  return static_cast<int>(level) >= g_least.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view text) {
  if (!log_enabled(level)) return;
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(state().mutex);
    sink = state().sink;
  }
  if (sink) (*sink)(level, text);
}

}  // namespace latebind::core
