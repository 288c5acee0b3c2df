// EmbedStream: computes vectors for an endless sequence of texts in bounded memory, in input order.
//
// Pushed texts are collected into windows. Each window is sorted by length and computed while the next one is filled;
// finished windows are pulled. One thread may push while another one pulls. The caller owns the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/results.h"

namespace latebind::embedding {

class Pipeline;

// A window is full when it reaches either limit. window_texts = 0 selects the number of tokens of a batch, which makes
// some dozens of batches of common texts, but at least 2048 and at most 16384.
struct EmbedStreamOptions {
  std::size_t window_texts = 0;
  std::size_t window_bytes = std::size_t{8} << 20;
  TextOptions texts{};
  // The names of the outputs that the stream gives, all of one pass; see Encoder::find_outputs().
  std::vector<std::string> outputs{};
  // If set, the same texts give the same bits; see EmbedOptions.
  bool alone = true;
};

// Consecutive texts with the results of the stream's first output. `outputs` has the results of all its outputs.
struct VectorWindow : ResultWindow {
  std::uint64_t first = 0;                        // position of the first text in the stream
  std::span<const std::uint32_t> token_counts{};  // computed tokens of each text; empty at the end of the stream
  std::span<const ResultWindow> outputs{};
  // The attestation of the device that computed the texts; that of a fallback if any batch ran on a fallback. Null if
  // the window needed no computation.
  std::shared_ptr<const core::Attestation> answered_by{};
};

class EmbedStream {
 public:
  // Returns an error if the options do not fit the model. The encoder must outlive the stream.
  static core::Result<std::unique_ptr<EmbedStream>> open(const Encoder& encoder,
                                                         const EmbedStreamOptions& options = {});
  // The same on the route for the role in `options`.
  static core::Result<std::unique_ptr<EmbedStream>> open(const Embedder& embedder,
                                                         const EmbedStreamOptions& options = {});
  // The same for callers inside this layer, for the outputs at these positions of the forward's; by default the
  // first one.
  static core::Result<std::unique_ptr<EmbedStream>> open(Pipeline& pipeline, const EmbedStreamOptions& options = {},
                                                         std::span<const std::size_t> outputs = {});
  // Waits for the running batches and drops all results.
  ~EmbedStream();

  // The number of floats of a row of the stream's output at this position; 0 for sparse vectors.
  [[nodiscard]] std::size_t dimensions(std::size_t output = 0) const;

  // Adds a text. Returns kBusy while the maximum number of windows are computed or wait to be pulled, and
  // kInvalidArgument after finish(). Any other error is permanent, and all later calls repeat it. Positions in errors
  // count from the start of the stream.
  [[nodiscard]] core::Status push(std::string_view text);
  // is_full() returns whether push() would return kBusy. wait_for_room() waits until it would not.
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] core::Status wait_for_room(const core::RunOptions& limits);
  // Declares that no more texts follow.
  [[nodiscard]] core::Status finish();

  // Waits for the next window and returns it. The window is valid until the next pull(); it has no texts at the end of
  // the stream. Also waits for texts that another thread has yet to push. Returns kDeadlineExceeded or kCancelled if
  // `limits` end first; no results are lost.
  [[nodiscard]] core::Result<VectorWindow> pull(const core::RunOptions& limits = {});
  // Returns whether pull() would return without waiting.
  [[nodiscard]] bool is_ready() const;

  // The statistics of the pulled windows.
  [[nodiscard]] EmbedStats stats() const;

 private:
  struct Parts;
  explicit EmbedStream(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Pushes the texts that `next` returns until it returns std::nullopt, and passes every window to `sink` as soon as it
// is ready, all on this thread. A text must be valid until the next one is requested. `limits` bound each wait for a
// window. Returns the first error of the stream, `next`, `sink` or `limits`.
[[nodiscard]] core::Status embed_all(EmbedStream& stream,
                                     const std::function<core::Result<std::optional<std::string_view>>()>& next,
                                     const std::function<core::Status(const VectorWindow&)>& sink,
                                     const core::RunOptions& limits = {});

}  // namespace latebind::embedding
