// Forward: one batch of token ids through the placed model, and its vectors to their destinations; or, of a model
// without a network, through its table.
//
// Knows the model's inputs by name and type, and whether its output still has to be pooled. Immutable and thread-safe
// once it is made; each call has its own Scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine.h"
#include "core/result.h"
#include "embedding/model_folder.h"
#include "embedding/sparse_vector.h"
#include "embedding/term_table.h"

namespace latebind::embedding {

// How the model's output is used.
struct OutputRule {
  // True: rows of the output are the vectors, normalised by the device where `normalize`, which is corrected where its
  // precision was not enough. False: token vectors, to be pooled, and
  // normalised, unless they are what is wanted.
  bool pooled = false;
  bool keep_tokens = false;
  // Those that are kept get length 1, whatever `normalize` says.
  bool normalize_tokens = false;
  // The mask may have graph::kUnattended.
  bool may_be_unattended = false;
  PoolingMode pooling = PoolingMode::kMean;
  bool normalize = false;
  // Weights of a vocabulary's entries are wanted instead of a vector: of its numbers, pooled by their maximum, or
  // summed.
  std::optional<SparseRule> sparse = std::nullopt;
  // Length of a vector; 0: what the model's output declares.
  std::size_t dimension = 0;
  // The position of that output among the model's.
  std::size_t output = 0;
};

// One text of a batch, or two as one: at least one token, and where its vector goes, or one for each token, or its
// sparse one.
struct TextRow {
  std::span<const std::int32_t> ids;
  float* vector = nullptr;
  SparseVector* sparse = nullptr;
  // Tokens from this one on have type 1; as many as there are, where none has.
  std::size_t type_one_from = ids.size();
  // The first one that is pooled, where that is not the network's.
  std::size_t pooled_from = 0;
  // Nothing attends to tokens from this one on.
  std::size_t unattended_from = ids.size();
  // Which tokens' vectors are wanted, 1 or 0 for each; empty: all.
  std::span<const std::uint8_t> kept{};
};

class Forward {
 public:
  // Buffers that are kept between runs. One thread at a time.
  struct Scratch {
    std::vector<TextRow> rows;  // the caller's
    std::vector<std::vector<std::int64_t>> inputs;
    std::vector<core::TensorView> views;
    std::vector<core::OutputTensor> outputs;
    std::vector<float> pooled;  // what a sparse vector is made of
  };

  // Rejects models that do not take token ids, naming the problem.
  static core::Result<Forward> bind(std::shared_ptr<core::PlacedModel> model, const OutputRule& rule);
  // No device has a part in it, which its attestation says: "none".
  static Forward of_table(std::shared_ptr<const TermTable> table, const SparseRule& rule);

  [[nodiscard]] std::size_t dimension() const { return rule_.dimension; }
  [[nodiscard]] PoolingMode pooling() const { return rule_.pooling; }
  // Vectors have length 1.
  [[nodiscard]] bool normalizes() const { return rule_.normalize && !rule_.keep_tokens; }
  // A text has a vector for each token that has one, one after the other, instead of one.
  [[nodiscard]] bool keeps_tokens() const { return rule_.keep_tokens; }
  // They have length 1.
  [[nodiscard]] bool normalizes_tokens() const { return rule_.keep_tokens && rule_.normalize_tokens; }
  // A text has a sparse vector instead.
  [[nodiscard]] bool gives_sparse() const { return rule_.sparse.has_value(); }
  // As those of core::PlacedModel.
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  [[nodiscard]] std::size_t hung_runs() const { return model_ != nullptr ? model_->hung_runs() : 0; }
  [[nodiscard]] core::Status prepare() const { return model_ != nullptr ? model_->prepare() : core::Status(); }

  // Computes these texts, each padded to `width` tokens. `answered_by`, when given, receives which device computed
  // them.
  [[nodiscard]] core::Status run(std::span<const TextRow> rows, std::size_t width, Scratch& scratch,
                                 const core::RunOptions& limits = {},
                                 std::shared_ptr<const core::Attestation>* answered_by = nullptr) const;

 private:
  // What is passed to an input of the model.
  enum class Feed { kIds, kMask, kTokenTypes };

  Forward(std::shared_ptr<core::PlacedModel> model, const OutputRule& rule) : model_(std::move(model)), rule_(rule) {}
  core::Status bind_inputs();
  core::Status bind_output();
  template <class Id>
  void fill(Feed feed, std::span<const TextRow> rows, std::size_t width, Id* to) const;
  // `is_in_place`: the vendor has written there already.
  core::Status deliver(const core::TensorView& output, std::span<const TextRow> rows, std::size_t width,
                       bool is_in_place, Scratch& scratch) const;
  // The output, which has been checked.
  void deliver_tokens(const float* from, std::span<const TextRow> rows, std::size_t width) const;
  void deliver_sparse(const float* from, std::span<const TextRow> rows, std::size_t width,
                      std::vector<float>& pooled) const;

  // One of the two, the latter with what stands for a device.
  std::shared_ptr<core::PlacedModel> model_;
  std::shared_ptr<const TermTable> table_;
  std::shared_ptr<const core::Attestation> no_device_;
  OutputRule rule_;
  std::vector<Feed> feeds_;  // in the order of the model's inputs
};

}  // namespace latebind::embedding
