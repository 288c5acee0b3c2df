// Service holds the served models and executes requests, independently of protocols.
//
// Results arrive through callbacks, so that no thread blocks on a request. Thread-safe once the models are loaded. It
// must outlive every request: wait_until_idle().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/failover/placed_model.h"
#include "core/placement/attestation.h"
#include "core/result.h"
#include "core/tensor/tensor.h"
#include "embedding/cross_encoder.h"
#include "embedding/embed_task.h"
#include "embedding/embedder.h"
#include "embedding/multi_vector_encoder.h"
#include "server/exchange.h"
#include "server/model_digest.h"
#include "server/model_names.h"
#include "server/observe/metrics.h"
#include "server/refusal.h"
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

// A loaded model. Constant.
struct ServedModel {
  std::string name;                    // the canonical one
  std::vector<std::string> aliases{};  // its other names
  std::string given{};                 // its argument on the command line
  std::string folder;                  // the path that was opened, UTF-8
  std::string commit{};                // on the hub; empty: unknown
  ModelDigest digest{};                // of the model's files
  std::chrono::system_clock::time_point loaded_at{};
  double load_seconds = 0;
  bool began_as_fallback = false;  // a fallback was active after loading
  // Exactly one of these five is set.
  std::unique_ptr<embedding::Embedder> embedder{};
  std::unique_ptr<embedding::CrossEncoder> cross_encoder{};
  std::unique_ptr<embedding::Embedder> sparse_encoder{};
  std::unique_ptr<embedding::MultiVectorEncoder> multi_vector_encoder{};
  std::shared_ptr<core::PlacedModel> tensors{};           // any other network: tensors in, tensors out
  std::unique_ptr<embedding::Embedder> token_embedder{};  // set beside `embedder` if token vectors are served

  // The network that takes texts, or null if the model takes tensors.
  [[nodiscard]] const embedding::Embedder* of_texts() const {
    if (cross_encoder != nullptr) return &cross_encoder->network();
    if (multi_vector_encoder != nullptr) return &multi_vector_encoder->network();
    return sparse_encoder != nullptr ? sparse_encoder.get() : embedder.get();
  }

  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const {
    return tensors != nullptr ? tensors->attestation() : of_texts()->attestation();
  }
};

// Converts the optional prompt name of a request.
[[nodiscard]] embedding::PromptChoice prompt_choice(const std::optional<std::string>& name);
// Converts an error of Prompts::choose().
[[nodiscard]] Refusal refusal_of_prompt(const ServedModel& model, const core::Status& status);

enum class VectorKind : std::uint8_t {
  kOfTexts,
  kOfTokens,  // one per token, as the model computes it
  kSparse,
};

// How errors refer to the texts of a request: "input[3]".
struct TextNames {
  std::string_view list = "texts";
  // The name and the number of the texts that come before the list.
  std::string_view before{};
  std::size_t count_before = 0;

  [[nodiscard]] std::string operator()(std::uint64_t position) const;
};

// The texts of one request, or their token ids including special tokens.
struct VectorCall {
  std::string model{};  // empty: the first model
  TextNames names{};
  std::variant<std::vector<std::string>, std::vector<std::vector<std::int32_t>>> texts{};
  std::size_t too_many = 0;        // the number of texts if above the limit, which are then not in `texts`; otherwise 0
  std::size_t dimensions = 0;      // 0: all
  std::optional<bool> truncate{};  // std::nullopt: the server's default
  bool keep_end = false;           // truncates at the beginning
  bool normalize = true;           // scales vectors to length 1; false: as the model returns them
  VectorKind kind = VectorKind::kOfTexts;
  // The role of the texts. A model may have a prompt or a separate route for it.
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  // The prompt put before every text. "" means no prompt, std::nullopt the model's default.
  std::optional<std::string> prompt_name{};
};

// A query and the documents to score against it.
struct ScoreCall {
  std::string model{};  // empty: the first model that gives scores, a cross-encoder or a multi-vector encoder
  TextNames names{.list = "documents"};
  std::string query{};
  std::vector<std::string> documents{};
  std::size_t too_many = 0;  // see VectorCall
  // A lower limit than the model's is refused, since documents have no separate limit.
  std::size_t document_tokens_max = std::numeric_limits<std::size_t>::max();
  std::optional<bool> truncate{};  // std::nullopt: the server's default
  bool keep_end = false;
};

// Texts, or pairs of texts, to classify.
struct PredictCall {
  std::string model{};  // empty: the first model that gives scores
  TextNames names{.list = "inputs"};
  std::variant<std::vector<std::string>, std::vector<std::array<std::string, 2>>> inputs{};
  std::size_t too_many = 0;        // see VectorCall
  std::optional<bool> truncate{};  // std::nullopt: the server's default
  bool keep_end = false;
};

// The result for texts or tokens. For pairs, each row has the network's number for every label.
struct Vectors {
  const ServedModel* model = nullptr;
  std::vector<float> rows{};  // one after the other, `dimension` floats each
  std::size_t dimension = 0;
  std::vector<embedding::SparseVector> sparse{};  // instead of rows
  std::vector<std::uint32_t> token_counts{};
  std::vector<std::uint32_t> vector_counts{};  // for token vectors: the number of each text
  std::uint64_t tokens = 0;
  std::uint64_t truncated_texts = 0;
  std::chrono::steady_clock::duration tokenizing{};
  std::chrono::steady_clock::duration waiting{};
  std::chrono::steady_clock::duration computing{};

  [[nodiscard]] std::size_t count() const { return token_counts.size(); }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(rows).subspan(i * dimension, dimension);
  }
};

// A named tensor, for models that take tensors.
struct NamedTensor {
  std::string name;
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape{};
  std::vector<std::byte> data{};  // dense, row-major, little-endian
};

struct TensorCall {
  std::string model{};
  std::vector<NamedTensor> inputs{};
};

template <class T>
using Outcome = std::variant<T, Refusal>;

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

  // Computes the vectors of the texts and notes facts in the exchange's record. `done` is called once, through `post`
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
  using Does = bool (*)(const ServedModel&);
  // Like find(), but "" selects a model that can do the work: one that meets the first preference that any model meets.
  [[nodiscard]] Outcome<const ServedModel*> find_for(std::string_view name,
                                                     std::initializer_list<Does> preferences) const;
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
  };
  using StartScores = std::function<core::Result<embedding::EmbedTask>(
      const embedding::Embedder& network, const embedding::TaskOptions& options, embedding::EmbedTask::Done over)>;
  void score_late(const ExchangePtr& exchange, const ServedModel& model, ScoreCall call,
                  std::function<void(Outcome<Vectors>)> done);
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
