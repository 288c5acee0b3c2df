// Forward: one batch of token ids through the placed model, and its numbers to the results of each output; or, where
// the model has no network, through its table.
//
// Knows the inputs and outputs of the placed model. Immutable and thread-safe once it is made; each call has its own
// Scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine.h"
#include "core/result.h"
#include "embedding/outputs/output.h"
#include "embedding/term_table.h"

namespace latebind::embedding {

// One text of a batch, or two as one: at least one token.
struct TextRow {
  std::span<const std::int32_t> ids;
  // Where the results go, one target for each output.
  std::span<const RowTarget> targets{};
  // Tokens from this one on have type 1; the number of tokens, where none has.
  std::size_t type_one_from = ids.size();
  // The first token that is pooled, where the network does not pool.
  std::size_t pooled_from = 0;
  // Nothing attends to tokens from this one on.
  std::size_t unattended_from = ids.size();
  // Which tokens have a vector, 1 or 0 for each; empty: all.
  std::span<const std::uint8_t> kept{};
};

class Forward {
 public:
  // Buffers that are kept between runs. One thread at a time.
  struct Scratch {
    std::vector<TextRow> rows;       // the caller's
    std::vector<RowTarget> targets;  // the caller's
    std::vector<std::vector<std::int64_t>> inputs;
    std::vector<core::TensorView> views;
    std::vector<core::OutputTensor> outputs;
    std::vector<float> numbers;
  };

  // kUnsupported for models that do not take token ids or lack an end, naming the problem. `may_be_unattended`: the
  // mask may have graph::kUnattended.
  static core::Result<Forward> bind(std::shared_ptr<core::PlacedModel> model, std::vector<BoundOutput> outputs,
                                    bool may_be_unattended = false);
  // Its attestation says that no device has a part in it: "none".
  static Forward of_table(std::shared_ptr<const TermTable> table, std::shared_ptr<const Output> output);

  [[nodiscard]] std::span<const BoundOutput> outputs() const { return outputs_; }
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

  Forward(std::shared_ptr<core::PlacedModel> model, std::vector<BoundOutput> outputs, bool may_be_unattended)
      : model_(std::move(model)), outputs_(std::move(outputs)), may_be_unattended_(may_be_unattended) {}
  core::Status bind_inputs();
  core::Status bind_end(ModelEnd& end) const;
  template <class Id>
  void fill(Feed feed, std::span<const TextRow> rows, std::size_t width, Id* to) const;
  [[nodiscard]] core::Status check_shape(const ModelEnd& end, const core::TensorView& output, std::size_t rows,
                                         std::size_t width) const;
  // Passes the numbers of output `which` on.
  void deliver(std::size_t which, const float* numbers, std::span<const TextRow> rows, std::size_t width,
               std::vector<float>& scratch) const;

  // One of the two, the latter with what stands for a device.
  std::shared_ptr<core::PlacedModel> model_;
  std::shared_ptr<const TermTable> table_;
  std::shared_ptr<const core::Attestation> no_device_;
  std::vector<BoundOutput> outputs_;
  bool may_be_unattended_ = false;
  std::vector<Feed> feeds_;  // in the order of the model's inputs
};

}  // namespace latebind::embedding
