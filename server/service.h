// Service: the models that are served, and what may be asked of them, whatever the protocol.
//
// Requests end in callbacks, so that no thread waits for one. Thread-safe once the models are loaded; must outlive every
// request, which drain() waits for.
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
#include <utility>
#include <variant>
#include <vector>

#include "core/attestation.h"
#include "core/placed_model.h"
#include "core/result.h"
#include "core/tensor.h"
#include "embedding/embed_task.h"
#include "embedding/embedder.h"
#include "server/exchange.h"
#include "server/observe/metrics.h"
#include "server/refusal.h"

namespace latebind::server {

// What a request may ask for; see docs/serving.md.
struct ServiceLimits {
  std::size_t texts_max = 2048;             // of one request
  std::uint64_t queue_tokens_max = 131072;  // that wait, of all requests for one model
  std::chrono::milliseconds request_timeout{60'000};
  bool auto_truncate = true;     // a longer text is cut unless the request says otherwise
  bool strict_requests = false;  // an answer by a fallback is a refusal
  bool allow_dimensions = false;  // fewer numbers of a vector, also of models that were not trained for it
};

// A loaded model. Constant.
struct ServedModel {
  std::string name;
  std::string folder;  // as it was opened, UTF-8
  std::chrono::system_clock::time_point loaded_at{};
  double load_seconds = 0;
  bool has_matryoshka = false;                         // its files say that it was trained for fewer dimensions
  std::map<std::string, std::string, std::less<>> prompts{};  // by name, of config_sentence_transformers.json
  // One of the two.
  std::unique_ptr<embedding::Embedder> embedder{};
  std::shared_ptr<core::PlacedModel> tensors{};  // any other network: tensors in, tensors out

  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const {
    return embedder != nullptr ? embedder->attestation() : tensors->attestation();
  }
};

// Texts, or their token ids (special tokens included), of one request.
struct VectorCall {
  std::string model{};  // empty: the first one
  std::variant<std::vector<std::string>, std::vector<std::vector<std::int32_t>>> texts{};
  std::size_t dimensions = 0;         // 0: all
  std::optional<bool> truncate{};     // nothing: as the server does
  bool normalize = true;
  std::string prompt_name{};          // put before every text; empty: none
};

struct Vectors {
  const ServedModel* model = nullptr;
  std::vector<float> rows{};  // one after the other, `dimension` floats each
  std::size_t dimension = 0;
  std::vector<std::uint32_t> token_counts{};
  std::uint64_t tokens = 0;
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

class Service {
 public:
  // Where callbacks run: passes a function to one of the server's threads.
  using Post = std::function<void(std::function<void()>)>;

  Service(ServiceLimits limits, Post post);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Before is_ready(): each model once, by its name; kInvalidArgument for one that is taken.
  [[nodiscard]] core::Status add(std::shared_ptr<const ServedModel> model);
  void set_ready(bool is_ready) { is_ready_.store(is_ready, std::memory_order_release); }
  [[nodiscard]] bool is_ready() const { return is_ready_.load(std::memory_order_acquire); }

  [[nodiscard]] const ServiceLimits& limits() const { return limits_; }
  // In the order of the command line. Constant once it is ready.
  [[nodiscard]] std::span<const std::shared_ptr<const ServedModel>> models() const { return models_; }
  // The first one for "". A refusal where there is none with that name, or none is ready.
  [[nodiscard]] Outcome<const ServedModel*> find(std::string_view name) const;

  // Computes the vectors of these texts. Records what there is to know in the exchange's record. `done` is called once,
  // through `post` or on this thread; not at all when the client has gone.
  void embed(const ExchangePtr& exchange, VectorCall call, std::function<void(Outcome<Vectors>)> done);

  // Runs a model that takes tensors. Every output, in the model's order.
  void run(const ExchangePtr& exchange, TensorCall call,
           std::function<void(Outcome<std::vector<NamedTensor>>)> done);

  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] std::uint64_t requests_in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

 private:
  struct Pending;
  void finish(const std::shared_ptr<Pending>& pending, embedding::TaskOutcome outcome);

  const ServiceLimits limits_;
  const Post post_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<const ServedModel>> models_;  // constant once is_ready_
  std::atomic<bool> is_ready_{false};
  std::atomic<std::uint64_t> in_flight_{0};
  Metrics metrics_;
};

}  // namespace latebind::server
