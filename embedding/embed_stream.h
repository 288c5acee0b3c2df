// EmbedStream: vectors for an endless sequence of texts in bounded memory, in input order.
//
// Texts are pushed and gathered into windows, sorted by length within a window and computed while the next one is being
// filled; finished windows are pulled. One thread may push while another one pulls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/outputs/sparse_vector.h"

namespace latebind::embedding {

class Pipeline;

// A window is full when it has either. 0 texts: as many as a batch has tokens, which makes some dozens of batches of
// common texts, but at least 2048 and at most 16384.
struct EmbedStreamOptions {
  std::size_t window_texts = 0;
  std::size_t window_bytes = std::size_t{8} << 20;
  TextOptions texts{};
  // See EmbedOptions: with it, the same texts give the same bits.
  bool alone = true;
};

// The results of one output for consecutive texts, in the output's form.
struct ResultWindow {
  std::span<const float> vectors{};  // rows of the output's dimension, or of the stream's dimensions()
  std::span<const SparseVector> sparse{};
  std::span<const std::uint32_t> vector_counts{};  // ragged rows: how many of them each text has
};

// Consecutive texts with their results: those of the encoder's first output, and in `outputs` those of all.
struct VectorWindow : ResultWindow {
  std::uint64_t first = 0;                        // the position of its first text in the stream
  std::span<const std::uint32_t> token_counts{};  // of each text, as computed; empty when the stream has ended
  std::span<const ResultWindow> outputs{};
  // Which device computed them: a fallback, where one did. Null where there was nothing to compute.
  std::shared_ptr<const core::Attestation> answered_by{};
};

class EmbedStream {
 public:
  // Fails when the options are wrong. The encoder must outlive the stream.
  static core::Result<std::unique_ptr<EmbedStream>> open(const Encoder& encoder,
                                                         const EmbedStreamOptions& options = {});
  // The same on the route of the role in `options`.
  static core::Result<std::unique_ptr<EmbedStream>> open(const Embedder& embedder,
                                                         const EmbedStreamOptions& options = {});
  // As above, for those within this layer.
  static core::Result<std::unique_ptr<EmbedStream>> open(Pipeline& pipeline, const EmbedStreamOptions& options = {});
  // Waits for what is being computed and drops it.
  ~EmbedStream();

  // Floats of a vector of the first output; 0 for sparse ones.
  [[nodiscard]] std::size_t dimensions() const;

  // Takes a text, or is kBusy while as many windows as there may be wait to be pulled, or kInvalidArgument when the
  // stream is finished. Any other error stays: all calls repeat it. Positions in errors count from the start of the
  // stream.
  [[nodiscard]] core::Status push(std::string_view text);
  // Whether push() would be busy, and waiting until it is not.
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] core::Status wait_for_room(const core::RunOptions& limits);
  // No more texts will be pushed.
  [[nodiscard]] core::Status finish();

  // The next window, which stays valid until the next one is pulled; one without texts at the end of the stream. Waits
  // for it (kDeadlineExceeded, kCancelled: nothing is lost), also for texts that another thread has yet to push.
  [[nodiscard]] core::Result<VectorWindow> pull(const core::RunOptions& limits = {});
  // Whether pull() would not wait.
  [[nodiscard]] bool is_ready() const;

  // What has been pulled so far.
  [[nodiscard]] EmbedStats stats() const;

 private:
  struct Parts;
  explicit EmbedStream(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Pushes what `next` returns until it returns nothing (a text stays valid until the next one is requested), and passes
// every window to `sink` as soon as it is ready, all on this thread. The first error of any of them, and that of
// `limits`, which bound each wait for a window.
[[nodiscard]] core::Status embed_all(EmbedStream& stream,
                                     const std::function<core::Result<std::optional<std::string_view>>()>& next,
                                     const std::function<core::Status(const VectorWindow&)>& sink,
                                     const core::RunOptions& limits = {});

}  // namespace latebind::embedding
