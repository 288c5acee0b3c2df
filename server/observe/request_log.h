// RequestLog: one line for each request, as text or as JSON. Never a text, a vector or a key of a client.
//
// Under load it samples: at most `lines_per_s_max` lines a second are written, a quarter of them kept for answers of
// 500 and above; the next line then says how many were left out. Thread-safe. A thread of its own writes the lines, so
// that no request waits for a slow reader; lines that find kWaitingLinesMax waiting are left out, too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/observe/records.h"

namespace latebind::server {

enum class LogFormat { kText, kJson };

class RequestLog {
 public:
  static constexpr std::size_t kWaitingLinesMax = 4096;

  // `write` takes one line without its end, and is called by one thread at a time. `lines_per_s_max` 0: no limit.
  RequestLog(LogFormat format, unsigned lines_per_s_max, std::function<void(std::string_view line)> write);
  // Once what waits is written.
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  void write(const RequestRecord& record) noexcept;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// One record in that format, without a line's end whatever is in it: for people "POST /v1/embeddings 200 12.3 ms 32
// texts 871 tokens openvino:CPU …".
[[nodiscard]] std::string log_line(const RequestRecord& record, LogFormat format);

}  // namespace latebind::server
