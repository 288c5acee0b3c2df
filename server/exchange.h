// Exchange: one request, and its one answer.
//
// Held by whoever works on it. answer() may be called from any thread; the first call counts. The request is constant;
// the record belongs to whoever works on the request, one at a time, until it is answered. An exchange that is destroyed
// without an answer answers 500: nobody waits for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "core/cancellation.h"
#include "server/observe/records.h"
#include "server/transport/http_message.h"

namespace latebind::server {

class Exchange {
 public:
  // `send` is called once, with the answer.
  using Send = std::function<void(HttpResponse)>;

  Exchange(HttpRequest request, Send send);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] RequestRecord& record() { return record_; }
  // Requested when the client goes away before the answer.
  [[nodiscard]] const core::Cancellation& gone() const { return gone_; }

  // Called once, with the answer, before it is sent: for headers that every answer has, metrics and log.
  void before_answer(std::function<void(Exchange&, HttpResponse&)> action) { before_answer_ = std::move(action); }
  void answer(HttpResponse response) noexcept;
  [[nodiscard]] bool is_answered() const { return is_answered_.load(std::memory_order_acquire); }

 private:
  const HttpRequest request_;
  const Send send_;
  const core::Cancellation gone_ = core::Cancellation::create();
  std::function<void(Exchange&, HttpResponse&)> before_answer_;
  RequestRecord record_;
  std::atomic<bool> is_answered_{false};
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace latebind::server
