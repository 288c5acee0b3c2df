// Service holds the served models and executes requests, independently of protocols.
//
// Results arrive through callbacks, so that no thread blocks on a request. Thread-safe once the models are loaded. It
// must outlive every request: wait_until_idle().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/embed_task.h"
#include "embedding/embedder.h"
#include "embedding/inputs/prompts.h"
#include "server/calls.h"
#include "server/exchange.h"
#include "server/model_names.h"
#include "server/observe/metrics.h"
#include "server/refusal.h"
#include "server/served_model.h"
#include "server/tensor_runs.h"

namespace latebind::server {

// The limit for token vectors in one answer, as bytes of floats. Their JSON is several times as long.
inline constexpr std::uint64_t kTokenVectorBytesMax = std::uint64_t{64} << 20;

// Limits of requests; see docs/serving.md.
struct ServiceLimits {
  std::size_t texts_max = 2048;             // per request
  std::uint64_t queue_tokens_max = 131072;  // waiting or running, over all requests for one model; 0: no limit
  std::size_t queue_runs_max = 256;         // likewise, for a model that takes tensors
  std::chrono::milliseconds request_timeout{60'000};
  bool auto_truncate = true;      // truncates longer texts unless the request says otherwise
  bool strict_requests = false;   // refuses instead of answering with a fallback
  bool allow_dimensions = false;  // shortens vectors even of models not trained for that
};

// Converts the optional prompt name of a request.
[[nodiscard]] embedding::PromptChoice prompt_choice(const std::optional<std::string>& name);
// Converts an error of Prompts::choose().
[[nodiscard]] Refusal refusal_of_prompt(const ServedModel& model, const core::Status& status);

// What the status shows about the server around the service.
struct ServerFacts {
  std::vector<std::string> addresses{};
  std::function<std::size_t()> connections{};
  std::function<std::uint64_t()> held_bytes{};  // in bodies and answers
  std::uint64_t held_bytes_max = 0;
  bool wants_key = false;
  std::size_t connections_max = 0;
  std::uint64_t body_bytes_max = 0;
  std::int64_t request_timeout_ms = 0;
  std::string cache_folder{};  // empty: no cache
  std::uint64_t cache_bytes_max = 0;
};

// The waiting and running work of a model at one moment.
struct ModelQueue {
  std::size_t waiting_texts = 0;
  std::uint64_t waiting_tokens = 0;
  std::size_t waiting_runs = 0;  // for a model that takes tensors
  std::size_t running = 0;       // batches of texts, or runs with tensors
  std::uint64_t running_tokens = 0;
};

class Service {
 public:
  // Runs a function on one of the server's threads, or on those for longer work.
  using Post = std::function<void(std::function<void()>, bool is_large)>;

  Service(ServiceLimits limits, Post post);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Adds a model before is_ready(). Returns the errors of NameTable::add().
  [[nodiscard]] core::Status add(std::shared_ptr<const ServedModel> model);
  // Called once all models are added.
  void set_ready() { phase_.store(Phase::kReady, std::memory_order_release); }
  // Finishes the accepted requests and rejects new ones.
  void set_ending() { phase_.store(Phase::kEnding, std::memory_order_release); }
  // Whether the service reports ready. While it is ending, accepted requests are still answered.
  [[nodiscard]] bool is_ready() const { return phase_.load(std::memory_order_acquire) == Phase::kReady; }
  [[nodiscard]] bool has_models() const { return phase_.load(std::memory_order_acquire) != Phase::kLoading; }

  // Set before the first request.
  void set_facts(ServerFacts facts) { facts_ = std::move(facts); }
  [[nodiscard]] const ServerFacts& facts() const { return facts_; }

  [[nodiscard]] const ServiceLimits& limits() const { return limits_; }
  // In the order of the command line. Valid once has_models().
  [[nodiscard]] std::span<const std::shared_ptr<const ServedModel>> models() const { return models_; }
  // Returns the model of this name, with or without ":latest", or the first model for "". Refuses unknown names, and
  // requests before a model is ready.
  [[nodiscard]] Outcome<const ServedModel*> find(std::string_view name) const;

  // Like find(), but "" selects the first model that gives one of these outputs; an earlier output is preferred.
  [[nodiscard]] Outcome<const ServedModel*> find_giving(std::string_view name,
                                                        std::span<const std::string_view> outputs) const;

  // The same for a model that scores documents for a query: one that gives scores or vectors of tokens to compare.
  [[nodiscard]] Outcome<const ServedModel*> find_scoring(std::string_view name) const;

  // Computes the outputs of the texts and notes facts in the exchange's record. `done` is called once, through `post`
  // or on this thread, but not if the client has left.
  void embed(const ExchangePtr& exchange, VectorCall call, std::function<void(Outcome<Vectors>)> done);

  // Like embed(), for one score per document, and for the numbers of labels.
  void score(const ExchangePtr& exchange, ScoreCall call, std::function<void(Outcome<Vectors>)> done);
  void predict(const ExchangePtr& exchange, PredictCall call, std::function<void(Outcome<Vectors>)> done);

  // Runs a model that takes tensors and returns every output, in the model's order. `done` is called once, on this
  // thread or on one that may block, but not if the client has left.
  void run(const ExchangePtr& exchange, TensorCall call,
           const std::function<void(Outcome<std::vector<NamedTensor>>)>& done);

  [[nodiscard]] ModelQueue queue_of(const ServedModel& model) const;
  // The number of abandoned runs that have not returned from the vendor.
  [[nodiscard]] static std::size_t hung_runs_of(const ServedModel& model);
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  // Waits until all computation has ended, so that the service can be destroyed. Returns false if the time was up
  // first.
  [[nodiscard]] bool wait_until_idle(std::chrono::steady_clock::time_point until) const;
  [[nodiscard]] std::uint64_t requests_in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

 private:
  enum class Phase { kLoading, kReady, kEnding };
  class Drop;
  struct Pending;
  // Refuses if the queue has no room for about `tokens` more, or the answer no memory.
  [[nodiscard]] std::optional<Refusal> reserve(Exchange& exchange, const embedding::Encoder& encoder,
                                               std::uint64_t tokens, std::uint64_t answer_bytes) const;
  // Starts the task. The argument is called when it is over.
  using StartTask = std::function<core::Result<embedding::EmbedTask>(embedding::EmbedTask::Done)>;
  void compute(const ExchangePtr& exchange, const ServedModel& model, std::function<void(Outcome<Vectors>)> done,
               const StartTask& start);
  void finish(Pending& pending, embedding::TaskOutcome outcome) const;
  // A scoring request, independent of its form.
  struct ScoreRequest {
    std::string_view model;
    std::size_t count = 0;
    std::uint64_t characters = 0;
    std::uint64_t answer_bytes = 0;                                      // besides labels and their scores
    std::function<std::uint64_t(std::size_t tokens_max)> likely_tokens;  // estimate, given the limit of a row
    TextNames names{};
    bool ranks = false;  // exactly one score per row is wanted
    std::optional<bool> truncate{};
    bool keep_end = false;
    std::optional<std::string_view> instruct{};
  };
  using StartScores = std::function<core::Result<embedding::EmbedTask>(
      const embedding::Embedder& network, const embedding::TaskOptions& options, embedding::EmbedTask::Done over)>;
  // Returns why a model does not take this call, or its encoder for it.
  [[nodiscard]] Outcome<const embedding::Encoder*> encoder_for(const ServedModel& model, const VectorCall& call) const;
  void score_late(const ExchangePtr& exchange, const ServedModel& model, const embedding::Comparison& comparison,
                  ScoreCall call, std::function<void(Outcome<Vectors>)> done);
  void compute_scores(const ExchangePtr& exchange, const ScoreRequest& request,
                      std::function<void(Outcome<Vectors>)> done, const StartScores& start);
  [[nodiscard]] Outcome<std::vector<NamedTensor>> tensors_of(Exchange& exchange, const ServedModel& model,
                                                             const TensorRuns::Ran& ran) const;

  const ServiceLimits limits_;
  const Post post_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<const ServedModel>> models_;  // constant once has_models()
  NameTable names_;                                         // of models_; constant once has_models()
  std::atomic<Phase> phase_{Phase::kLoading};
  ServerFacts facts_;
  std::atomic<std::uint64_t> in_flight_{0};
  Metrics metrics_;
  // Of models that take tensors. Constant once has_models().
  std::map<const ServedModel*, std::unique_ptr<TensorRuns>> runs_;
};

}  // namespace latebind::server
