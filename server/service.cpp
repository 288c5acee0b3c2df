#include "server/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "core/text/counted.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/threads/mutex.h"
#include "server/likely_tokens.h"
#include "server/service_parts.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;
using std::chrono::steady_clock;

namespace {

// The size, in numbers, above which a separate thread writes an answer, so that it does not delay small ones: a
// millisecond's work.
constexpr std::size_t kLargeAnswer = std::size_t{64} << 10;
// The memory per number of a vector until its answer is sent: as a float and as text.
constexpr std::uint64_t kNumberBytes = sizeof(float) + 12;

// The least memory of a sparse vector in an answer, and that of each entry.
constexpr std::uint64_t kSparseBytes = 64;
constexpr std::uint64_t kSparseEntryBytes = 40;

std::size_t entries_of(std::span<const embedding::SparseVector> vectors) {
  std::size_t entries = 0;
  for (const embedding::SparseVector& vector : vectors)
    entries += vector.indices.size();
  return entries;
}

Refusal overloaded(std::string message) {
  return Refusal{
      .kind = RefusalKind::kOverloaded, .message = std::move(message), .param = {}, .retry_after_s = kRetryAfter};
}

// The capabilities of models.
bool gives_vectors(const ServedModel& model) {
  return model.embedder != nullptr;
}
bool gives_token_vectors(const ServedModel& model) {
  return model.token_embedder != nullptr;
}
bool is_multi_vector_encoder(const ServedModel& model) {
  return model.multi_vector_encoder != nullptr;
}
bool gives_sparse_vectors(const ServedModel& model) {
  return model.sparse_encoder != nullptr;
}

// The most memory that a request's vectors and answer take. For token vectors, an estimate before tokenization.
std::uint64_t answer_bytes(const VectorCall& call, const embedding::Encoder& embedder, std::size_t count,
                           std::size_t prompt_bytes) {
  const std::uint64_t dimension = call.dimensions > 0 ? call.dimensions : embedder.dimension();
  std::uint64_t vectors = count;
  // The size of sparse vectors is only known once they are computed: see finish().
  if (call.kind == VectorKind::kSparse) return count * kSparseBytes;
  if (call.kind == VectorKind::kOfTokens) {
    std::uint64_t tokens = 0;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&call.texts)) {
      for (const std::string& text : *texts)
        tokens += prompt_bytes + text.size() + 2;
    } else {
      for (const auto& ids : std::get<std::vector<std::vector<std::int32_t>>>(call.texts))
        tokens += ids.size();
    }
    vectors = std::min<std::uint64_t>(
        {tokens, count * embedder.max_tokens(), kTokenVectorBytesMax / (embedder.dimension() * sizeof(float))});
  }
  return vectors * dimension * kNumberBytes;
}

std::uint64_t likely_tokens_of(const VectorCall& call, const embedding::Encoder& embedder, std::size_t prompt_bytes) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&call.texts))
    return likely_tokens(*texts, prompt_bytes, embedder.max_tokens());
  std::uint64_t tokens = 0;
  for (const auto& ids : std::get<std::vector<std::vector<std::int32_t>>>(call.texts))
    tokens += std::min(embedder.max_tokens(), ids.size());
  return tokens;
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

std::string TextNames::operator()(std::uint64_t position) const {
  if (position >= count_before) return fmt::format("{}[{}]", list, position - count_before);
  return count_before == 1 ? std::string(before) : fmt::format("{}[{}]", before, position);
}

embedding::PromptChoice prompt_choice(const std::optional<std::string>& name) {
  if (!name) return {};
  if (name->empty()) return {.text = ""};
  return {.name = *name};
}

Refusal refusal_of_prompt(const ServedModel& model, const Status& status) {
  return {.kind = status.code() == StatusCode::kUnsupported ? RefusalKind::kUnsupported : RefusalKind::kBadRequest,
          .message = fmt::format("{}: {}", model.name, status.message()),
          .param = "prompt_name"};
}

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

std::uint64_t characters_of(std::span<const std::string> texts) {
  std::uint64_t count = 0;
  for (const std::string& text : texts) {
    // Counts every byte except those that continue a character.
    count += static_cast<std::uint64_t>(
        std::ranges::count_if(text, [](char byte) { return !core::is_utf8_continuation(byte); }));
  }
  return count;
}

Service::Service(ServiceLimits limits, Post post) : limits_(limits), post_(std::move(post)) {}

Service::~Service() = default;

bool Service::wait_until_idle(steady_clock::time_point until) const {
  while (in_flight_.load(std::memory_order_acquire) > 0) {
    if (steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Status Service::add(std::shared_ptr<const ServedModel> model) {
  LB_RETURN_IF_ERROR(names_.add(
      {.given = model->given.empty() ? model->name : model->given, .name = model->name, .others = model->aliases}));
  if (model->tensors != nullptr) {
    runs_[model.get()] = std::make_unique<TensorRuns>(model->tensors, limits_.queue_runs_max, in_flight_);
  }
  models_.push_back(std::move(model));
  return {};
}

Outcome<const ServedModel*> Service::find(std::string_view name) const {
  if (!has_models()) {
    return Refusal{
        .kind = RefusalKind::kNotReady, .message = "the models are still loading", .param = {}, .retry_after_s = 1};
  }
  if (name.empty()) return models_.front().get();
  if (const auto found = names_.find(name)) return models_[*found].get();
  std::string known;
  for (const auto& model : models_)
    known += (known.empty() ? "" : ", ") + model->name;
  return Refusal{.kind = RefusalKind::kNoModel,
                 .message = fmt::format("no model is served as {}; available: {}", core::quoted(name, 100), known),
                 .param = "model"};
}

Outcome<const ServedModel*> Service::find_for(std::string_view name, std::initializer_list<Does> preferences) const {
  auto found = find(name);
  if (!name.empty() || std::holds_alternative<Refusal>(found)) return found;
  for (const Does does : preferences) {
    for (const auto& model : models_) {
      if (does(*model)) return model.get();
    }
  }
  return found;
}

ModelQueue Service::queue_of(const ServedModel& model) const {
  ModelQueue queue;
  if (model.tensors != nullptr) {
    const auto state = runs_.at(&model)->state();
    queue.waiting_runs = state.waiting;
    queue.running = state.running;
  }
  for (const auto* embedder : {model.of_texts(), static_cast<const embedding::Embedder*>(model.token_embedder.get())}) {
    if (embedder == nullptr) continue;
    const auto state = embedder->queue_state();
    queue.waiting_texts += state.waiting_texts;
    queue.waiting_tokens += state.waiting_tokens;
    queue.running += state.running_batches;
    queue.running_tokens += state.running_tokens;
  }
  return queue;
}

std::size_t Service::hung_runs_of(const ServedModel& model) {
  std::size_t count = model.tensors != nullptr ? model.tensors->hung_runs() : 0;
  for (const auto* embedder : {model.of_texts(), static_cast<const embedding::Embedder*>(model.token_embedder.get())})
    count += embedder != nullptr ? embedder->hung_runs() : 0;
  return count;
}

void Service::embed(const ExchangePtr& exchange, VectorCall call, std::function<void(Outcome<Vectors>)> done) {
  const bool is_sparse = call.kind == VectorKind::kSparse;
  const auto found = call.kind == VectorKind::kOfTokens
                         ? find_for(call.model, {is_multi_vector_encoder, gives_token_vectors})
                         : find_for(call.model, {is_sparse ? gives_sparse_vectors : gives_vectors});
  auto* const texts = std::get_if<std::vector<std::string>>(&call.texts);
  const auto* const ids = std::get_if<std::vector<std::vector<std::int32_t>>>(&call.texts);
  const std::size_t read = texts != nullptr ? texts->size() : ids->size();
  const std::size_t count = call.too_many > 0 ? call.too_many : read;
  exchange->note([&](RequestRecord& record) {
    record.is_embedding = true;
    record.texts = count;
    if (texts != nullptr) record.characters = characters_of(*texts);
    if (const auto* model = std::get_if<const ServedModel*>(&found)) record.model = (*model)->name;
  });
  if (const auto* refusal = std::get_if<Refusal>(&found)) return done(*refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  const bool of_tokens = call.kind == VectorKind::kOfTokens;
  const bool is_late = of_tokens && model.multi_vector_encoder != nullptr;
  if (is_sparse ? model.sparse_encoder == nullptr : model.embedder == nullptr && !is_late) {
    return done(
        Refusal{.kind = RefusalKind::kUnsupported,
                .message = fmt::format("{} does not make {}vectors of texts", model.name, is_sparse ? "sparse " : ""),
                .param = "model"});
  }
  if (of_tokens && !is_late && model.token_embedder == nullptr) {
    return done(Refusal{.kind = RefusalKind::kUnsupported,
                        .message = "token vectors are not served: start the server with --token-vectors",
                        .param = {}});
  }
  const embedding::Embedder& whole = is_late     ? model.multi_vector_encoder->network()
                                     : is_sparse ? *model.sparse_encoder
                                     : of_tokens ? *model.token_embedder
                                                 : *model.embedder;
  const auto route = whole.route_for(call.role);
  if (!route.ok()) {
    return done(
        Refusal{.kind = RefusalKind::kBadRequest, .message = std::string(route.status().message()), .param = "role"});
  }
  const embedding::Encoder& embedder = **route;
  if (count > limits_.texts_max) {
    return done(Refusal{.kind = RefusalKind::kTooManyTexts,
                        .message = fmt::format("{} texts in one request; at most {}", count, limits_.texts_max),
                        .param = std::string(call.names.list)});
  }
  if (call.dimensions > 0 && call.dimensions < embedder.dimension() && whole.matryoshka_dimensions().empty() &&
      !limits_.allow_dimensions) {
    return done(Refusal{.kind = RefusalKind::kUnsupported,
                        .message = fmt::format("{} was not trained for fewer dimensions than {}; start the server with "
                                               "--allow-dimensions to cut its vectors anyway",
                                               model.name, embedder.dimension()),
                        .param = "dimensions"});
  }
  const embedding::PromptChoice prompt = prompt_choice(call.prompt_name);
  if (texts == nullptr && call.prompt_name && !call.prompt_name->empty()) {
    return done(Refusal{.kind = RefusalKind::kBadRequest,
                        .message = "a prompt can be put before texts, not before token ids",
                        .param = "prompt_name"});
  }
  std::size_t prompt_bytes = 0;
  if (texts != nullptr) {
    const auto chosen = embedder.prompts().choose(prompt, call.role);
    if (!chosen.ok()) return done(refusal_of_prompt(model, chosen.status()));
    prompt_bytes = chosen->size();
  }
  if (auto refusal = reserve(*exchange, embedder, likely_tokens_of(call, embedder, prompt_bytes),
                             answer_bytes(call, embedder, count, prompt_bytes))) {
    return done(*std::move(refusal));
  }

  embedding::TaskOptions options;
  options.texts.role = call.role;
  options.texts.dimensions = call.dimensions;
  options.texts.refuse_longer = !call.truncate.value_or(limits_.auto_truncate);
  options.texts.keep_end = call.keep_end;
  options.texts.normalize = call.normalize && !is_sparse && !is_late;
  if (texts != nullptr) options.texts.prompt = prompt;
  options.queue_tokens_max = limits_.queue_tokens_max;
  options.name_of = call.names;
  if (of_tokens) options.tokens_max = kTokenVectorBytesMax / (embedder.dimension() * sizeof(float));

  compute(exchange, model, std::move(done), [&](embedding::EmbedTask::Done over) {
    if (texts != nullptr) {
      const std::vector<std::string_view> views(texts->begin(), texts->end());
      return embedding::EmbedTask::start(embedder, std::span(views), options, std::move(over));
    }
    const std::vector<embedding::Ids> views(ids->begin(), ids->end());
    return embedding::EmbedTask::start(embedder, std::span(views), options, std::move(over));
  });
}

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
  return overloaded("other requests and answers hold too many bytes: try again later");
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
      const bool is_large = std::max(shared->vectors.size(), entries_of(shared->sparse)) > kLargeAnswer;
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
  Vectors vectors;
  vectors.model = pending.model;
  if (!pending.exchange->reserve(entries_of(outcome.sparse) * kSparseEntryBytes)) {
    return pending.done(overloaded("other requests and answers hold too many bytes: try again later"));
  }
  vectors.rows = std::move(outcome.vectors);
  vectors.sparse = std::move(outcome.sparse);
  vectors.dimension = outcome.dimension;
  vectors.token_counts = std::move(outcome.token_counts);
  vectors.vector_counts = std::move(outcome.vector_counts);
  vectors.tokens = outcome.stats.tokens;
  vectors.truncated_texts = outcome.stats.truncated_texts;
  vectors.tokenizing = outcome.tokenizing;
  vectors.waiting = outcome.waiting;
  vectors.computing = outcome.computing;
  pending.done(std::move(vectors));
}

}  // namespace latebind::server
