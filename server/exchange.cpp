#include "server/exchange.h"

#include <exception>
#include <utility>

namespace latebind::server {
namespace {

// nginx's status for a client that left before the answer, which is neither an error of the server nor an answer.
constexpr unsigned kClientGone = 499;

}  // namespace

Exchange::Exchange(HttpRequest request, Send send, HeldBytes::Share held)
    : request_(std::move(request)), send_(std::move(send)), held_(std::move(held)) {
  record_.method = request_.method;
  record_.arrived = request_.arrived;
  record_.arrived_at = request_.arrived_at;
  record_.request_bytes = request_.body.size();
}

bool Exchange::reserve(std::uint64_t bytes) {
  const core::MutexLock lock(mutex_);
  return held_.try_set(held_.bytes() + bytes);
}

std::optional<std::uint64_t> Exchange::never_holds(std::uint64_t bytes) const {
  const core::MutexLock lock(mutex_);
  const auto most = held_.most();
  return most && held_.bytes() + bytes > *most ? most : std::nullopt;
}

Exchange::~Exchange() {
  if (is_answered()) return;
  HttpResponse response;
  response.status = 500;
  response.body = R"({"error":"the request was dropped without an answer","error_type":"internal"})";
  answer(std::move(response), "internal");
}

void Exchange::answer(HttpResponse response, std::string_view refusal) noexcept {
  {
    const core::MutexLock lock(mutex_);
    if (is_answered_.exchange(true, std::memory_order_acq_rel)) return;
  }
  try {
    record_.answered = std::chrono::steady_clock::now();
    record_.client_gone = gone_.is_requested();
    record_.status = record_.client_gone ? kClientGone : response.status;
    record_.refusal = record_.client_gone ? "client_gone" : refusal;
    record_.response_bytes = record_.client_gone ? 0 : response.body.size();
    if (before_answer_) before_answer_(*this, response);
    send_(std::move(response));
  } catch (const std::exception&) {
    // If memory for the answer is missing, the connection ends without one.
    try {
      HttpResponse nothing;
      nothing.status = 500;
      nothing.content_type.clear();
      nothing.close = true;
      send_(std::move(nothing));
    } catch (const std::exception&) {
    }
  }
}

}  // namespace latebind::server
