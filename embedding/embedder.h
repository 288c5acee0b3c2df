// Embedder: text to vectors, with a sentence-transformers model folder as it comes from the hub.
//
// Thread-safe after construction: embed() may be called from many threads, which then share the requests of the
// executable. The engine's registry must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/engine.h"
#include "core/result.h"

namespace latebind::embedding {

struct EmbedderOptions {
  // Its fixed lengths are cut at the model's limit, which is added; without any they are 32, 64, 128, 256 and 512.
  core::LoadOptions load{};
  // Tokens of a batch, padding included. One text longer than that makes a batch of its own.
  std::size_t batch_tokens = 2048;
  // Tokens of one text, special tokens included; 0: what the model folder says.
  std::size_t max_tokens = 0;
};

struct EmbedStats {
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;         // real ones, special tokens included, after truncation
  std::uint64_t padded_tokens = 0;  // what was computed: batch rows times batch width
  std::uint64_t truncated_texts = 0;
  std::uint64_t fallback_texts = 0;  // computed by a fallback, whatever the attestation says before and after
  double seconds = 0;                // wall time inside embed()

  // Share of the computed tokens that was padding, 0 to 1.
  [[nodiscard]] double padding_ratio() const;
  EmbedStats& operator+=(const EmbedStats& other);
};

class Embedder {
 public:
  // Reads the folder, builds or finds the graph, places and loads it.
  static core::Result<std::unique_ptr<Embedder>> open(const core::Engine& engine,
                                                      const std::filesystem::path& model_folder,
                                                      const core::Placement& placement, const EmbedderOptions& options);
  ~Embedder();

  // Length of a vector.
  [[nodiscard]] std::size_t dimension() const;
  // Texts are cut to this many tokens.
  [[nodiscard]] std::size_t max_tokens() const;
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  // Runs that were given up and have not come back from the vendor: core/placed_model.h.
  [[nodiscard]] std::size_t hung_runs() const;

  // Compiles now what is otherwise compiled when a text first needs it, such as every fixed length.
  [[nodiscard]] core::Status prepare() const;

  // Writes texts.size() rows of dimension() floats to `out`, in the order of the texts. An empty text embeds as the
  // reference does. kInvalidArgument names the text's position and the byte when one is not UTF-8, kInternal the
  // position and the device when a vector is not finite. On error `out` is unspecified.
  [[nodiscard]] core::Result<EmbedStats> embed(std::span<const std::string_view> texts, std::span<float> out) const;

 private:
  friend class EmbedStream;
  struct Parts;
  explicit Embedder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::embedding
