// Forward: runs one batch of token ids through the placed model and passes the numbers to the results of each output.
// If the model has a table instead of a network, it looks the ids up in the table.
//
// A Pipeline owns it. Immutable and thread-safe after construction; each call needs a separate Scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/engine.h"
#include "core/result.h"
#include "embedding/outputs/output.h"
#include "embedding/tables/term_table.h"

namespace latebind::embedding {

// One text of a batch, or a pair of texts as one row. It has at least one token.
struct TextRow {
  std::span<const std::int32_t> ids;
  // The destinations of the results, one for each output.
  std::span<const RowTarget> targets{};
  // The tokens from this position on have type 1. Equals the number of tokens if all have type 0.
  std::size_t type_one_from = ids.size();
  // The first token that is pooled, if the network does not pool.
  std::size_t pooled_from = 0;
  // No token attends to the tokens from this position on.
  std::size_t unattended_from = ids.size();
  // 1 for each token that has a vector, else 0; empty if all have one.
  std::span<const std::uint8_t> kept{};
  std::uint32_t task = 0;  // the number of the text's task; 0 for none
};

class Forward {
 public:
  // Buffers that are reused between runs. Only one thread at a time may use them.
  struct Scratch {
    std::vector<TextRow> rows;       // the caller's
    std::vector<RowTarget> targets;  // the caller's
    std::vector<std::vector<std::int64_t>> inputs;
    std::vector<core::TensorView> views;
    std::vector<core::OutputTensor> outputs;
    std::vector<float> numbers;
  };

  // Binds the model's inputs and ends. Returns kUnsupported, naming the problem, if the model does not take token ids
  // or lacks an end. `may_be_unattended` says that the mask may contain graph::kUnattended.
  static core::Result<Forward> bind(std::shared_ptr<core::PlacedModel> model, std::vector<BoundOutput> outputs,
                                    bool may_be_unattended = false);
  // Makes a Forward for a table of weights. Its attestation names the backend "none".
  static Forward of_table(std::shared_ptr<const TermTable> table, std::shared_ptr<const Output> output);

  // Gives the outputs the ids of their tokens. Call it before the first run.
  void take_tokenizer(const Tokenizer& tokenizer);

  [[nodiscard]] std::span<const BoundOutput> outputs() const { return outputs_; }
  // Like the functions of core::PlacedModel.
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  [[nodiscard]] std::size_t hung_runs() const { return model_ != nullptr ? model_->hung_runs() : 0; }
  [[nodiscard]] core::Status prepare() const { return model_ != nullptr ? model_->prepare() : core::Status(); }

  // Computes these texts, each padded to `width` tokens. If given, `answered_by` receives the attestation of the device
  // that computed them. Returns the errors of core::PlacedModel::execute(), and kShapeMismatch if an output has an
  // unexpected type or shape.
  [[nodiscard]] core::Status run(std::span<const TextRow> rows, std::size_t width, Scratch& scratch,
                                 const core::RunOptions& limits = {},
                                 std::shared_ptr<const core::Attestation>* answered_by = nullptr) const;

 private:
  // The data that an input of the model receives.
  enum class Feed { kIds, kMask, kTokenTypes, kTasks, kPositions };

  Forward(std::shared_ptr<core::PlacedModel> model, std::vector<BoundOutput> outputs, bool may_be_unattended)
      : model_(std::move(model)), outputs_(std::move(outputs)), may_be_unattended_(may_be_unattended) {}
  core::Status bind_inputs();
  core::Status bind_end(ModelEnd& end) const;
  template <class Id>
  void fill(Feed feed, std::span<const TextRow> rows, std::size_t width, Id* to) const;
  [[nodiscard]] core::Status check_shape(const ModelEnd& end, const core::TensorView& output, std::size_t rows,
                                         std::size_t width) const;
  // Passes the numbers of output `which` to the targets of its rows.
  void deliver(std::size_t which, const float* numbers, std::span<const TextRow> rows, std::size_t width,
               std::vector<float>& scratch) const;

  // Either the model, or the table with an attestation that stands for a device.
  std::shared_ptr<core::PlacedModel> model_;
  std::shared_ptr<const TermTable> table_;
  std::shared_ptr<const core::Attestation> no_device_;
  std::vector<BoundOutput> outputs_;
  bool may_be_unattended_ = false;
  std::vector<Feed> feeds_;  // in the order of the model's inputs
};

}  // namespace latebind::embedding
