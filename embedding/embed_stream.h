// EmbedStream: vectors for an endless sequence of texts in bounded memory, in input order.
//
// Texts are gathered into windows, sorted by length within a window and computed while the next window is being filled.
// One thread pushes; the sink is called on that same thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "embedding/embedder.h"

namespace latebind::embedding {

class Pipeline;

// Consecutive texts and their vectors: texts.size() rows of dimension() floats. An error ends the stream.
using VectorSink = std::function<core::Status(std::span<const std::string> texts, std::span<const float> vectors)>;

// A window is full when it has either. 0 texts: as many as a batch has tokens, which makes some dozens of batches of
// common texts, but at least 2048 and at most 16384.
struct EmbedStreamOptions {
  std::size_t window_texts = 0;
  std::size_t window_bytes = std::size_t{8} << 20;
};

class EmbedStream {
 public:
  EmbedStream(const Embedder& embedder, VectorSink sink, EmbedStreamOptions options = {});
  // As above, for those within this layer.
  EmbedStream(Pipeline& pipeline, VectorSink sink, EmbedStreamOptions options = {});
  // Waits for what is being computed and drops it.
  ~EmbedStream();

  // May block until a window has been computed. After an error the stream only repeats it. Positions in errors count
  // from the start of the stream.
  [[nodiscard]] core::Status push(std::string text);
  // Computes and delivers what is left.
  [[nodiscard]] core::Status finish();

  // What has been delivered so far.
  [[nodiscard]] const EmbedStats& stats() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::embedding
