// GgufFile: the tensors of a GGUF file, with the names that Latebind's networks use. Tensors of f32, f16 and bf16 stay
// in the mapped file. Quantized tensors, and tensors that llama.cpp's converter changed, are computed as f32 when they
// are read, with the same numbers as in llama.cpp.
//
// Immutable; any thread may read.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/gguf/header.h"
#include "embedding/weights/gguf/tensor_names.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

class GgufFile : public TensorFile {
 public:
  // `first` is the first piece if the file may be another piece of a split one; only the first piece says what the
  // names of tensors mean. Returns the errors of GgufHeader::read(). An unsupported type is an error only when its
  // tensor is requested.
  static core::Result<GgufFile> from_part(core::FilePart part, std::string name, const core::FilePart* first = nullptr);

 private:
  GgufFile() = default;
  [[nodiscard]] core::Status take(const GgufHeader& header, const GgufNames& names);
};

// Returns the types of a file's matrices for people, most numbers first: "Q4_K, Q6_K".
[[nodiscard]] std::string describe_gguf_types(const GgufHeader& header);

}  // namespace latebind::embedding
