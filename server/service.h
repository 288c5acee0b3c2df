// Service: the models that are served, and what may be asked of them, whatever the protocol.
//
// Requests end in callbacks, so that no thread waits for one. Thread-safe once the models are loaded; must outlive
// every request: wait_until_idle().
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

#include "core/attestation.h"
#include "core/placed_model.h"
#include "core/result.h"
#include "core/tensor.h"
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

// Vectors of tokens in one answer, as bytes of floats; their texts are several times as long.
inline constexpr std::uint64_t kTokenVectorBytesMax = std::uint64_t{64} << 20;

// What a request may ask for; see docs/serving.md.
struct ServiceLimits {
  std::size_t texts_max = 2048;             // of one request
  std::uint64_t queue_tokens_max = 131072;  // that wait or run, of all requests for one model; 0: none
  std::size_t queue_runs_max = 256;         // the same for a model that takes tensors
  std::chrono::milliseconds request_timeout{60'000};
  bool auto_truncate = true;      // a longer text is cut unless the request says otherwise
  bool strict_requests = false;   // an answer by a fallback is a refusal
  bool allow_dimensions = false;  // fewer numbers of a vector, also of models that were not trained for it
};

// A loaded model. Constant.
struct ServedModel {
  std::string name;                    // the canonical one
  std::vector<std::string> aliases{};  // its other names
  std::string given{};                 // the argument that it was started with
  std::string folder;                  // as it was opened, UTF-8
  std::string commit{};                // of the hub; empty: unknown
  ModelDigest digest{};                // of its files
  std::chrono::system_clock::time_point loaded_at{};
  double load_seconds = 0;
  bool began_as_fallback = false;  // as it was loaded
  // One of the five.
  std::unique_ptr<embedding::Embedder> embedder{};
  std::unique_ptr<embedding::CrossEncoder> cross_encoder{};
  std::unique_ptr<embedding::Embedder> sparse_encoder{};
  std::unique_ptr<embedding::MultiVectorEncoder> multi_vector_encoder{};
  std::shared_ptr<core::PlacedModel> tensors{};           // any other network: tensors in, tensors out
  std::unique_ptr<embedding::Embedder> token_embedder{};  // beside an embedder, where vectors of tokens are served

  // What takes texts: null where nothing does.
  [[nodiscard]] const embedding::Embedder* of_texts() const {
    if (cross_encoder != nullptr) return &cross_encoder->network();
    if (multi_vector_encoder != nullptr) return &multi_vector_encoder->network();
    return sparse_encoder != nullptr ? sparse_encoder.get() : embedder.get();
  }

  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const {
    return tensors != nullptr ? tensors->attestation() : of_texts()->attestation();
  }
};

// What an optional name of a prompt in a request means.
[[nodiscard]] embedding::PromptChoice prompt_choice(const std::optional<std::string>& name);
// For an error of Prompts::choose().
[[nodiscard]] Refusal refusal_of_prompt(const ServedModel& model, const core::Status& status);

enum class VectorKind : std::uint8_t {
  kOfTexts,
  kOfTokens,  // one for each token, as the model gives them
  kSparse,
};

// What a request calls its texts, in errors: "input[3]".
struct TextNames {
  std::string_view list = "texts";
  // The name of the texts before the list, and how many there are.
  std::string_view before{};
  std::size_t count_before = 0;

  [[nodiscard]] std::string operator()(std::uint64_t position) const;
};

// Texts, or their token ids (special tokens included), of one request.
struct VectorCall {
  std::string model{};  // empty: the first one
  TextNames names{};
  std::variant<std::vector<std::string>, std::vector<std::vector<std::int32_t>>> texts{};
  std::size_t too_many = 0;        // how many there were, where they are above the limit and not in `texts`; else 0
  std::size_t dimensions = 0;      // 0: all
  std::optional<bool> truncate{};  // nothing: as the server does
  bool keep_end = false;           // a longer text is cut at its beginning
  bool normalize = true;           // length 1, whatever the model gives; false: as the model gives them
  VectorKind kind = VectorKind::kOfTexts;
  // What the texts are: a model may have a prompt for it, or a way of its own.
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  // The prompt that is put before every text; "": none, nothing: what the model says.
  std::optional<std::string> prompt_name{};
};

// A query and the documents whose scores for it are wanted.
struct ScoreCall {
  std::string model{};  // empty: the first one that gives scores, a cross-encoder or a multi-vector encoder
  TextNames names{.list = "documents"};
  std::string query{};
  std::vector<std::string> documents{};
  std::size_t too_many = 0;  // as VectorCall's
  // Refused below what the model takes: documents have no limit of their own.
  std::size_t document_tokens_max = std::numeric_limits<std::size_t>::max();
  std::optional<bool> truncate{};  // nothing: as the server does
  bool keep_end = false;
};

// Texts, or pairs of them, whose labels are wanted.
struct PredictCall {
  std::string model{};  // empty: the first one that gives scores
  TextNames names{.list = "inputs"};
  std::variant<std::vector<std::string>, std::vector<std::array<std::string, 2>>> inputs{};
  std::size_t too_many = 0;        // as VectorCall's
  std::optional<bool> truncate{};  // nothing: as the server does
  bool keep_end = false;
};

// Of texts or of tokens; or of pairs, which have a number for each label, the network's own.
struct Vectors {
  const ServedModel* model = nullptr;
  std::vector<float> rows{};  // of texts or of tokens, one after the other, `dimension` floats each
  std::size_t dimension = 0;
  std::vector<embedding::SparseVector> sparse{};  // instead of rows
  std::vector<std::uint32_t> token_counts{};
  std::vector<std::uint32_t> vector_counts{};  // of tokens: how many of each text
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

// Tensors by name, for models that take no text.
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

// What the status tells of what is around the service.
struct ServerFacts {
  std::vector<std::string> addresses{};
  std::function<std::size_t()> connections{};
  std::function<std::uint64_t()> held_bytes{};  // of bodies and answers
  std::uint64_t held_bytes_max = 0;
  bool wants_key = false;
  std::size_t connections_max = 0;
  std::uint64_t body_bytes_max = 0;
  std::int64_t request_timeout_ms = 0;
  std::string cache_folder{};  // empty: no cache
  std::uint64_t cache_bytes_max = 0;
};

// What waits for a model's device and what runs there, at one moment.
struct ModelQueue {
  std::size_t waiting_texts = 0;
  std::uint64_t waiting_tokens = 0;
  std::size_t waiting_runs = 0;  // of a model that takes tensors
  std::size_t running = 0;       // batches of texts, or such runs
  std::uint64_t running_tokens = 0;
};

class Service {
 public:
  // Where callbacks run: passes a function to one of the server's threads, or to those for what takes longer.
  using Post = std::function<void(std::function<void()>, bool is_large)>;

  Service(ServiceLimits limits, Post post);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Before is_ready(): each model once. The errors of NameTable::add().
  [[nodiscard]] core::Status add(std::shared_ptr<const ServedModel> model);
  // All models are added.
  void set_ready() { phase_.store(Phase::kReady, std::memory_order_release); }
  // What was accepted is finished; nothing more is.
  void set_ending() { phase_.store(Phase::kEnding, std::memory_order_release); }
  // Whether readiness is reported; requests are answered while it ends, too.
  [[nodiscard]] bool is_ready() const { return phase_.load(std::memory_order_acquire) == Phase::kReady; }
  [[nodiscard]] bool has_models() const { return phase_.load(std::memory_order_acquire) != Phase::kLoading; }

  // Before requests come.
  void set_facts(ServerFacts facts) { facts_ = std::move(facts); }
  [[nodiscard]] const ServerFacts& facts() const { return facts_; }

  [[nodiscard]] const ServiceLimits& limits() const { return limits_; }
  // In the order of the command line. Only once has_models().
  [[nodiscard]] std::span<const std::shared_ptr<const ServedModel>> models() const { return models_; }
  // The model with this name, with or without ":latest"; the first model for "". A refusal if no model has the name,
  // or none is ready.
  [[nodiscard]] Outcome<const ServedModel*> find(std::string_view name) const;

  // Computes the vectors of these texts. Records what there is to know in the exchange's record. `done` is called once,
  // through `post` or on this thread; not at all when the client has gone.
  void embed(const ExchangePtr& exchange, VectorCall call, std::function<void(Outcome<Vectors>)> done);

  // The same for scores, one for each document; and for the numbers of labels.
  void score(const ExchangePtr& exchange, ScoreCall call, std::function<void(Outcome<Vectors>)> done);
  void predict(const ExchangePtr& exchange, PredictCall call, std::function<void(Outcome<Vectors>)> done);

  // Runs a model that takes tensors. Every output, in the model's order. `done` is called once, on a thread that may
  // take its time, or on this one; not at all when the client has gone.
  void run(const ExchangePtr& exchange, TensorCall call,
           const std::function<void(Outcome<std::vector<NamedTensor>>)>& done);

  [[nodiscard]] ModelQueue queue_of(const ServedModel& model) const;
  // Abandoned runs that have not returned from the vendor.
  [[nodiscard]] static std::size_t hung_runs_of(const ServedModel& model);
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  // Until nothing is computed any more, so that this may be destroyed; false when the time was up before.
  [[nodiscard]] bool wait_until_idle(std::chrono::steady_clock::time_point until) const;
  [[nodiscard]] std::uint64_t requests_in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

 private:
  enum class Phase { kLoading, kReady, kEnding };
  class Drop;
  struct Pending;
  using Does = bool (*)(const ServedModel&);
  // As find(), but "" is the first model that does what is asked for, where one does: the first preference that any
  // model meets.
  [[nodiscard]] Outcome<const ServedModel*> find_for(std::string_view name,
                                                     std::initializer_list<Does> preferences) const;
  // A refusal where it has too much to do already for about so many tokens more.
  [[nodiscard]] std::optional<Refusal> reserve(Exchange& exchange, const embedding::Encoder& encoder,
                                               std::uint64_t tokens, std::uint64_t answer_bytes) const;
  // `start` starts the task, with what is to be called when it is over.
  using StartTask = std::function<core::Result<embedding::EmbedTask>(embedding::EmbedTask::Done)>;
  void compute(const ExchangePtr& exchange, const ServedModel& model, std::function<void(Outcome<Vectors>)> done,
               const StartTask& start);
  void finish(Pending& pending, embedding::TaskOutcome outcome) const;
  // What a request asks of a cross-encoder.
  struct ScoreRequest {
    std::string_view model;
    std::size_t count = 0;
    std::uint64_t characters = 0;
    std::uint64_t answer_bytes = 0;                                      // besides labels and their scores
    std::function<std::uint64_t(std::size_t tokens_max)> likely_tokens;  // where a row has at most so many
    TextNames names{};
    bool ranks = false;  // one score is wanted
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
  std::map<const ServedModel*, std::unique_ptr<TensorRuns>> runs_;  // of those with tensors; constant once has_models()
};

}  // namespace latebind::server
