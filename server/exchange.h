// Exchange is one request with its one answer.
//
// Everything that works on the request shares it; any thread may use it. Only the first answer() counts, whether it
// comes from the handler or from the deadline. The request is constant. If an exchange is destroyed without an answer,
// it answers 500, so that no client waits forever. An answer after the client has left is recorded as 499, client_gone.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/threads/cancellation.h"
#include "core/threads/mutex.h"
#include "server/held_bytes.h"
#include "server/observe/records.h"
#include "server/transport/http_message.h"

namespace latebind::server {

class Exchange {
 public:
  // Called once, with the answer.
  using Send = std::function<void(HttpResponse)>;

  // `held` is the share of the request's body.
  Exchange(HttpRequest request, Send send, HeldBytes::Share held = {});
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  // Reserves memory for the answer and its inputs. Returns false if all requests and answers together would hold too
  // much.
  [[nodiscard]] bool reserve(std::uint64_t bytes);
  // Returns the limit for all requests and answers together if this body and `bytes` alone exceed it; otherwise
  // std::nullopt.
  [[nodiscard]] std::optional<std::uint64_t> never_holds(std::uint64_t bytes) const;
  // Records facts about the request by calling write(record). Does nothing once the request is answered.
  template <class Write>
  void note(const Write& write) {
    const core::MutexLock lock(mutex_);
    if (!is_answered()) write(record_);
  }
  // Constant once the request is answered. Until then, only the thread that notes may read it.
  [[nodiscard]] const RequestRecord& record() const { return record_; }
  // Requested when the client leaves before the answer.
  [[nodiscard]] const core::Cancellation& gone() const { return gone_; }

  // Sets the function to call once with the answer before it is sent: it adds the common headers and feeds metrics and
  // log. Set it before sharing the exchange.
  void before_answer(std::function<void(const Exchange&, HttpResponse&)> action) { before_answer_ = std::move(action); }
  // `refusal` is the word for the kind of refusal, or empty.
  void answer(HttpResponse response, std::string_view refusal = {}) noexcept;
  [[nodiscard]] bool is_answered() const { return is_answered_.load(std::memory_order_acquire); }

 private:
  const HttpRequest request_;
  const Send send_;
  const core::Cancellation gone_ = core::Cancellation::create();
  std::function<void(const Exchange&, HttpResponse&)> before_answer_;
  mutable core::Mutex mutex_;
  RequestRecord record_;  // guarded by mutex_ until the request is answered
  HeldBytes::Share held_ LB_GUARDED_BY(mutex_);
  std::atomic<bool> is_answered_{false};
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace latebind::server
