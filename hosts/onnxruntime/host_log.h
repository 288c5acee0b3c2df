// Forwards Latebind's log to the host's: to a session's log while the thread creates or runs that session, otherwise to
// the log of the latest registration.
//
// Latebind has one sink for the whole process. Any thread.
#pragma once

#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

// A registration whose log receives lines; `host` must outlive it.
class HostLog {
 public:
  explicit HostLog(const Host& host);
  HostLog(const HostLog&) = delete;
  HostLog& operator=(const HostLog&) = delete;
  ~HostLog() { end(); }
  // After it returns, no thread uses the host's log because of this object. May be called repeatedly.
  void end() noexcept;

 private:
  const Host& host_;
};

// While it lives, lines of this thread go to this session's log.
class SessionLog {
 public:
  SessionLog(const Host& host, const abi::Logger* logger) noexcept;
  SessionLog(const SessionLog&) = delete;
  SessionLog& operator=(const SessionLog&) = delete;
  ~SessionLog();

 private:
  const Host* const host_before_;
  const abi::Logger* const logger_before_;
};

}  // namespace latebind::provider
