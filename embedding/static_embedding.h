// Static embeddings: a vector for each token and their mean for a text, with no network in between. model2vec and
// sentence-transformers' StaticEmbedding.
//
// Source: sentence-transformers' StaticEmbedding, with the tensor names of both. Pure functions, for any thread.
#pragma once

#include <memory>

#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

// All that is known of such a network is in its file of weights, which need not outlive the call. kInvalidModel when
// there is no table of vectors; of a compressed one (model2vec.h) the network is that of what it is written out to.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_static_embedding(const Safetensors& weights);

}  // namespace latebind::embedding
