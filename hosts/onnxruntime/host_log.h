// What Latebind logs, in the host's log: a session's own while that is made or runs on the thread, else the one of the
// registration that came last.
//
// Latebind has one sink for the whole process. Any thread.
#pragma once

#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

// A registration whose log takes lines. It must outlive this.
class HostLog {
 public:
  explicit HostLog(const Host& host);
  HostLog(const HostLog&) = delete;
  HostLog& operator=(const HostLog&) = delete;
  ~HostLog() { end(); }
  // When it returns, no thread is in that log because of this. Once, or more often.
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
