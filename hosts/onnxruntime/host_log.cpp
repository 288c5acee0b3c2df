#include "hosts/onnxruntime/host_log.h"

#include <algorithm>
#include <vector>

#include "core/threads/mutex.h"

namespace latebind::provider {
namespace {

struct Registered {
  core::Mutex mutex;
  std::vector<const Host*> hosts LB_GUARDED_BY(mutex);  // the last one receives the lines
};

// Never destroyed: hosts may unregister after the static objects of any library are destroyed.
Registered& registered() {
  static auto* all = new Registered;
  return *all;
}

thread_local const Host* g_host = nullptr;
thread_local const abi::Logger* g_logger = nullptr;

abi::LoggingLevel level_of(std::int32_t level) {
  switch (level) {
    case LB_LOG_DEBUG:
      return abi::kVerbose;
    case LB_LOG_INFO:
      return abi::kInfo;
    case LB_LOG_WARNING:
      return abi::kWarning;
    default:
      return abi::kError;
  }
}

void write(void* context, std::int32_t level, const char* text) {
  const Host* host = g_host != nullptr ? g_host : static_cast<const Host*>(context);
  host->log(level_of(level), std::string("Latebind: ") + text, g_logger);
}

// When it returns, the previous sink runs on no thread.
void set_sink(Registered& all) noexcept LB_REQUIRES(all.mutex) {
  if (all.hosts.empty()) {
    lb_set_log(nullptr, nullptr, LB_LOG_INFO);
  } else {
    lb_set_log(write, const_cast<Host*>(all.hosts.back()), LB_LOG_INFO);
  }
}

}  // namespace

HostLog::HostLog(const Host& host) : host_(host) {
  Registered& all = registered();
  const core::MutexLock lock(all.mutex);
  all.hosts.push_back(&host);
  set_sink(all);
}

void HostLog::end() noexcept {
  Registered& all = registered();
  const core::MutexLock lock(all.mutex);
  if (std::erase(all.hosts, &host_) > 0) set_sink(all);
}

SessionLog::SessionLog(const Host& host, const abi::Logger* logger) noexcept
    : host_before_(g_host), logger_before_(g_logger) {
  g_host = &host;
  g_logger = logger;
}

SessionLog::~SessionLog() {
  g_host = host_before_;
  g_logger = logger_before_;
}

}  // namespace latebind::provider
