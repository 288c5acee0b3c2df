// RequestLog: one line for each request, as text or as JSON. Never a text, a vector or a key of a client.
//
// Under load it samples: at most `lines_per_s_max` lines a second are written, errors first come first served among
// them; the next line then says how many were left out. Thread-safe; write() does not block on a slow reader of stderr
// longer than one line takes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/observe/records.h"

namespace latebind::server {

enum class LogFormat { kText, kJson };

class RequestLog {
 public:
  // `write` takes one line without its end. `lines_per_s_max` 0: no limit.
  RequestLog(LogFormat format, unsigned lines_per_s_max, std::function<void(std::string_view line)> write);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  void write(const RequestRecord& record) noexcept;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// One record in that format: for people "POST /v1/embeddings 200 12.3 ms 32 texts 871 tokens openvino:CPU …".
[[nodiscard]] std::string log_line(const RequestRecord& record, LogFormat format);

}  // namespace latebind::server
