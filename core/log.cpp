#include "core/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "core/platform/process_generation.h"

namespace latebind::core {
namespace {

constexpr int kSilent = 100;

struct State {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;  // guarded by mutex
};

// A child made by fork() is silent until it is given a sink: the parent's may need what the child has not got.
State& state() {
  static platform::PerProcess<State> instance;
  return instance.get();
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
