#include "embedding/multi_vector_encoder.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "embedding/outputs/pooling.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

std::unique_ptr<MultiVectorEncoder> MultiVectorEncoder::of(std::unique_ptr<Embedder> network) {
  return std::unique_ptr<MultiVectorEncoder>(new MultiVectorEncoder(std::move(network)));
}

Result<EmbedStats> MultiVectorEncoder::encode(std::span<const std::string_view> texts, TokenVectors& out,
                                              const EmbedOptions& options) const {
  const std::size_t before = out.numbers.size();
  LB_ASSIGN_OR_RETURN(const EmbedStats stats, network_->embed_tokens(texts, out, options));
  if (!options.texts.normalize || output_.normalizes_tokens()) return stats;
  for (std::size_t at = before; at < out.numbers.size(); at += out.dimension)
    normalize(std::span(out.numbers).subspan(at, out.dimension));
  return stats;
}

Result<EmbedStats> MultiVectorEncoder::score(std::span<const float> query, std::span<const std::string_view> documents,
                                             std::span<float> out, const EmbedOptions& options) const {
  if (out.size() < documents.size()) {
    return Status(StatusCode::kBufferTooSmall, fmt::format("{} documents have {} scores; there is room for {}",
                                                           documents.size(), documents.size(), out.size()));
  }
  const std::size_t dimension = this->dimension();
  return network_->embed_tokens(
      documents,
      [&](std::size_t first, std::span<const std::uint32_t> counts, std::span<const float> vectors) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
          out[first + i] = compare(query, vectors.first(counts[i] * dimension));
          vectors = vectors.subspan(counts[i] * dimension);
        }
      },
      options);
}

}  // namespace latebind::embedding
