// Converts the tensors of a sparse autoencoder to those of one linear layer. A pure function; any thread may call it.
#pragma once

#include "core/result.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// A sparse autoencoder computes E (x - p) + b from `encoder.weight` or `decoder.linear.weight` E [out, in], `pre_bias`
// p [in] and `latent_bias` b [out]. Returns the f32 tensors `linear.weight` and `linear.bias` of the same layer: E, and
// b - E p, summed in f64. Returns the errors of TensorFile::find().
[[nodiscard]] core::Result<TensorFile> linear_of_auto_encoder(const TensorFile& weights);

}  // namespace latebind::embedding
