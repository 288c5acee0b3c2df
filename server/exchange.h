// Exchange: one request, and its one answer.
//
// Held by whoever works on it; any thread. The first answer() counts: it may be the handler's, or come from the
// request's deadline. The request is constant. An exchange that is destroyed without an answer answers 500: nobody
// waits for ever. Whatever is answered after the client has left is recorded as 499, client_gone.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/cancellation.h"
#include "server/held_bytes.h"
#include "server/observe/records.h"
#include "server/transport/http_message.h"

namespace latebind::server {

class Exchange {
 public:
  // `send` is called once, with the answer.
  using Send = std::function<void(HttpResponse)>;

  // `held`: what the request's body holds.
  Exchange(HttpRequest request, Send send, HeldBytes::Share held = {});
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  // For the answer and what it is made of; false where requests and answers hold too much already.
  [[nodiscard]] bool reserve(std::uint64_t bytes);
  // The most that all may hold, where its body and so many bytes are more than that whatever the others do; else
  // nothing.
  [[nodiscard]] std::optional<std::uint64_t> never_holds(std::uint64_t bytes) const;
  // Writes down what is learnt of the request: write(record). Without effect once it is answered.
  template <class Write>
  void note(const Write& write) {
    const std::lock_guard lock(mutex_);
    if (!is_answered()) write(record_);
  }
  // Constant once it is answered; before that, for who notes it alone.
  [[nodiscard]] const RequestRecord& record() const { return record_; }
  // Requested when the client goes away before the answer.
  [[nodiscard]] const core::Cancellation& gone() const { return gone_; }

  // Called once, with the answer, before it is sent: for headers that every answer has, metrics and log. Set before the
  // exchange is passed on.
  void before_answer(std::function<void(const Exchange&, HttpResponse&)> action) { before_answer_ = std::move(action); }
  // `refusal`: the word for why it is not what was asked for.
  void answer(HttpResponse response, std::string_view refusal = {}) noexcept;
  [[nodiscard]] bool is_answered() const { return is_answered_.load(std::memory_order_acquire); }

 private:
  const HttpRequest request_;
  const Send send_;
  const core::Cancellation gone_ = core::Cancellation::create();
  std::function<void(const Exchange&, HttpResponse&)> before_answer_;
  mutable std::mutex mutex_;
  RequestRecord record_;   // guarded by mutex_ until it is answered
  HeldBytes::Share held_;  // guarded by mutex_
  std::atomic<bool> is_answered_{false};
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace latebind::server
