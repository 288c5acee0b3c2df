// Starts the computation of a request, and turns its outcome into an answer.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/text/counted.h"
#include "core/threads/mutex.h"
#include "server/service.h"
#include "server/service_parts.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;

namespace {

// The size, in numbers, above which a separate thread writes an answer, so that it does not delay small ones: a
// millisecond's work.
constexpr std::size_t kLargeAnswer = std::size_t{64} << 10;
// The memory of each entry of a sparse vector in an answer.
constexpr std::uint64_t kSparseEntryBytes = 40;

std::size_t sparse_entries_of(std::span<const embedding::OutputResult> results) {
  std::size_t entries = 0;
  for (const embedding::OutputResult& result : results) {
    const auto* const sparse = std::get_if<embedding::SparseRows>(&result);
    if (sparse == nullptr) continue;
    for (const embedding::SparseVector& vector : sparse->vectors)
      entries += vector.indices.size();
  }
  return entries;
}

std::size_t numbers_of(std::span<const embedding::OutputResult> results) {
  std::size_t numbers = sparse_entries_of(results);
  for (const embedding::OutputResult& result : results) {
    if (const auto* rows = std::get_if<embedding::Rows>(&result)) numbers += rows->numbers.size();
    if (const auto* ragged = std::get_if<embedding::RaggedRows>(&result)) numbers += ragged->numbers.size();
  }
  return numbers;
}

Refusal overloaded(std::string message) {
  return Refusal{
      .kind = RefusalKind::kOverloaded, .message = std::move(message), .param = {}, .retry_after_s = kRetryAfter};
}

Refusal too_much_is_held() {
  return overloaded("other requests and answers hold too many bytes: try again later");
}

}  // namespace

// Drops the texts of a request whose client has left, at any time. The watch's action holds it, because that action may
// outlive the watch.
class Service::Drop {
 public:
  void request() {
    embedding::EmbedTask dropped;
    {
      const core::MutexLock lock(mutex_);
      is_requested_ = true;
      if (is_over_) return;
      dropped = task_;
    }
    dropped.drop();
  }
  // Called once the texts are submitted.
  void set_task(const embedding::EmbedTask& task) {
    {
      const core::MutexLock lock(mutex_);
      task_ = task;
      if (!is_requested_) return;
    }
    task.drop();
  }
  // Called once there is nothing left to drop.
  void end() {
    const core::MutexLock lock(mutex_);
    is_over_ = true;
  }

 private:
  core::Mutex mutex_;
  embedding::EmbedTask task_ LB_GUARDED_BY(mutex_);
  bool is_requested_ LB_GUARDED_BY(mutex_) = false;
  bool is_over_ LB_GUARDED_BY(mutex_) = false;
};

// A request whose vectors are being computed.
struct Service::Pending {
  Service* service = nullptr;
  ExchangePtr exchange;
  const ServedModel* model = nullptr;
  std::function<void(Outcome<Vectors>)> done;
  const std::shared_ptr<Drop> drop = std::make_shared<Drop>();
  // Destroyed first: its destructor waits for an action that uses the other members.
  std::optional<core::Cancellation::Watch> watch;
};

// Called before tokenization.
std::optional<Refusal> Service::reserve(Exchange& exchange, const embedding::Encoder& encoder, std::uint64_t tokens,
                                        std::uint64_t answer_bytes) const {
  const auto most = limits_.queue_tokens_max;
  if (const auto state = encoder.queue_state(); most == 0 || !state.has_room(tokens, most)) {
    return overloaded(fmt::format("{} already waiting and {} being computed, of at most {}{}",
                                  core::counted(state.waiting_tokens, "token"), state.running_tokens, most,
                                  tokens > 1 ? fmt::format(", and this request has about {} more", tokens) : ""));
  }
  if (exchange.reserve(answer_bytes)) return std::nullopt;
  if (const auto held_most = exchange.never_holds(answer_bytes)) {
    return Refusal{.kind = RefusalKind::kTooLarge,
                   .message = fmt::format("the answer may take {} bytes, which with its request is above the limit of "
                                          "{} bytes (--max-held): ask for fewer texts at once",
                                          answer_bytes, *held_most),
                   .param = {}};
  }
  return too_much_is_held();
}

void Service::compute(const ExchangePtr& exchange, const ServedModel& model, std::function<void(Outcome<Vectors>)> done,
                      const StartTask& start) {
  auto pending = std::make_shared<Pending>();
  pending->service = this;
  pending->exchange = exchange;
  pending->model = &model;
  pending->done = std::move(done);
  pending->watch.emplace(exchange->gone(), [drop = pending->drop] { drop->request(); });
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  // Called on a computing thread.
  const auto over = [pending](embedding::TaskOutcome outcome) {
    Service& service = *pending->service;
    pending->drop->end();
    try {
      auto shared = std::make_shared<embedding::TaskOutcome>(std::move(outcome));
      const bool is_large = numbers_of(shared->results) > kLargeAnswer;
      service.post_(
          [pending, shared] {
            try {
              pending->service->finish(*pending, std::move(*shared));
            } catch (const std::bad_alloc&) {
              pending->done(overloaded("not enough memory for the answer"));
            }
          },
          is_large);
    } catch (const std::exception&) {
      // Without memory to pass the result on, the destructor of the exchange answers.
    }
    service.in_flight_.fetch_sub(1, std::memory_order_release);
  };
  core::Result<embedding::EmbedTask> task = Status(StatusCode::kInternal, "not begun");
  try {
    task = start(over);
  } catch (const std::exception&) {
    task = Status::of_exception();
  }
  if (!task.ok()) {
    in_flight_.fetch_sub(1, std::memory_order_release);
    return pending->done(refusal_of(task.status()));
  }
  pending->drop->set_task(*task);
}

namespace {

// The texts were checked before they were submitted, so a failure of the run is not the caller's mistake. The batch may
// also contain texts of others.
Refusal failed_run(const Status& status) {
  Refusal refusal = refusal_of(status);
  if (core::band_of(status.code()) == core::StatusBand::kCaller) refusal.kind = RefusalKind::kDevice;
  return refusal;
}

}  // namespace

// Called on one of the server's threads.
void Service::finish(Pending& pending, embedding::TaskOutcome outcome) const {
  pending.watch.reset();
  if (pending.exchange->is_answered()) return;
  const auto answered_by = outcome.answered_by != nullptr ? outcome.answered_by : pending.model->attestation();
  const bool is_fallback = answered_by->fallback || outcome.stats.fallback_texts > 0;
  pending.exchange->note([&](RequestRecord& record) {
    record.tokenizing = outcome.tokenizing;
    record.waiting = outcome.waiting;
    record.computing = outcome.computing;
    record.tokens = outcome.stats.tokens;
    record.truncated_texts = outcome.stats.truncated_texts;
    if (!outcome.token_counts.empty()) record.longest_tokens = *std::ranges::max_element(outcome.token_counts);
    record.device = answered_by->active.id();
    record.precision = core::word_of(answered_by->active.precision);
    record.fallback = is_fallback;
  });
  if (!outcome.status.ok()) return pending.done(failed_run(outcome.status));
  if (is_fallback && limits_.strict_requests) {
    return pending.done(Refusal{.kind = RefusalKind::kFallback,
                                .message = fmt::format("only a fallback device could answer: {}", answered_by->reason),
                                .param = {}});
  }
  if (!pending.exchange->reserve(sparse_entries_of(outcome.results) * kSparseEntryBytes)) {
    return pending.done(too_much_is_held());
  }
  Vectors vectors;
  vectors.model = pending.model;
  vectors.results = std::move(outcome.results);
  vectors.token_counts = std::move(outcome.token_counts);
  vectors.tokens = outcome.stats.tokens;
  vectors.truncated_texts = outcome.stats.truncated_texts;
  vectors.tokenizing = outcome.tokenizing;
  vectors.waiting = outcome.waiting;
  vectors.computing = outcome.computing;
  pending.done(std::move(vectors));
}

}  // namespace latebind::server
