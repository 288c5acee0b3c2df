// EncoderKind: the kind of a model, by the first of its outputs, for the layers that open one kind of model.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"

namespace latebind::embedding {

enum class EncoderKind : std::uint8_t {
  kEmbedder,            // dense: a vector for each text
  kCrossEncoder,        // score: scores for two texts together
  kSparseEncoder,       // sparse: weights for the entries of the vocabulary
  kMultiVectorEncoder,  // multi_vector: a vector for each token
};

// Returns the error for a model of another kind than the caller requires. The message names the command for the model
// and the class that opens it; the classes have the same names in C++ and Python.
[[nodiscard]] core::Status wrong_kind(std::string_view model, EncoderKind kind);

}  // namespace latebind::embedding
