// The numbers of a stored tensor as f32. Pure function; any thread.
#pragma once

#include <vector>

#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// `tensor` is one that TensorFile::find() returned.
[[nodiscard]] std::vector<float> floats_of(const StoredTensor& tensor);

}  // namespace latebind::embedding
