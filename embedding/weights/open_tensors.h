// Opens a file of weights in any supported format: safetensors, torch.save(), or GGUF. Any thread may call it.
#pragma once

#include <string>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// Chooses the format by the file's first bytes, and for unknown ones by the end of its name. `first` is the first file
// if the weights have several. Returns the errors of Safetensors::from_part(), TorchFile::from_part() and
// GgufFile::from_part().
[[nodiscard]] core::Result<TensorFile> open_tensors(core::FilePart part, std::string name,
                                                    const core::FilePart* first = nullptr);

}  // namespace latebind::embedding
