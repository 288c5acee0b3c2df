// RequestLog writes one line per request, as text or as JSON. It never contains a text, a vector or a key of a client.
//
// Under load it samples: at most `lines_per_s_max` lines are written per second, a quarter of them reserved for
// statuses of 500 and above, and the next line says how many were left out. Thread-safe. A thread of the log writes the
// lines, so that requests never wait for a slow reader; lines beyond kWaitingLinesMax waiting ones are left out, too.
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

  // `write` takes one line without a newline and is called by one thread at a time. `lines_per_s_max` 0 means no limit.
  RequestLog(LogFormat format, unsigned lines_per_s_max, std::function<void(std::string_view line)> write);
  // Waits until all waiting lines are written.
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  void write(const RequestRecord& record) noexcept;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// Formats one record as a single line, whatever it contains. As text: "POST /v1/embeddings 200 12.3 ms 32 texts 871
// tokens openvino:CPU …".
[[nodiscard]] std::string log_line(const RequestRecord& record, LogFormat format);

}  // namespace latebind::server
