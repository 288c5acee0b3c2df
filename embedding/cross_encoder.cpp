#include "embedding/cross_encoder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

std::unique_ptr<CrossEncoder> CrossEncoder::of(std::unique_ptr<Embedder> network) {
  return std::unique_ptr<CrossEncoder>(new CrossEncoder(std::move(network)));
}

Result<EmbedStats> CrossEncoder::score(std::span<const TextPair> pairs, std::span<float> out,
                                       const EmbedOptions& options, bool raw) const {
  if (options.texts.dimensions != 0 || options.texts.normalize) {
    return Status(StatusCode::kInvalidArgument, "scores have neither dimensions nor a length");
  }
  LB_ASSIGN_OR_RETURN(const EmbedStats stats, network_->embed_pairs(pairs, out, options));
  if (!raw) output_.activate(out.first(pairs.size() * labels().size()));
  return stats;
}

std::vector<std::size_t> rank_by_score(std::span<const float> scores, std::size_t most) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  if (order.size() > most) order.resize(most);
  return order;
}

}  // namespace latebind::embedding
