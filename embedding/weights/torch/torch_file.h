// TorchFile: the tensors of a file that torch.save() wrote: `pytorch_model.bin`, or any `.pt` with a dictionary of
// tensors. Either of torch's formats is read: the ZIP of today, and that of releases before 1.6, without a ZIP.
//
// Nothing in the file is imported or executed: pickle.h reads its pickle as data, and everything but tensors is refused
// by name. Tensors are used where they are in the mapped file. Views that are not in the order of their elements are
// copied, as many bytes as the file has at most.
//
// Source: torch/serialization.py and torch/_utils.py. Immutable; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/model/part_reader.h"
#include "core/result.h"
#include "embedding/weights/tensor_file.h"
#include "embedding/weights/torch/tensors.h"

namespace latebind::embedding {

class TorchFile : public TensorFile {
 public:
  // Returns kInvalidModel for a damaged file, kUnsupported for what is not read, and kIo if the file is cut meanwhile.
  // `name` stands for the file in messages.
  static core::Result<TorchFile> from_part(core::FilePart part, std::string name);

 private:
  TorchFile() = default;
  [[nodiscard]] core::Status read();
  [[nodiscard]] core::Status read_zip(const core::PartReader& file);
  [[nodiscard]] core::Status read_old(const core::PartReader& file);
  [[nodiscard]] core::Status take(const core::PartReader& file, const TorchTensors& found);
};

// Returns whether the bytes begin as a file of torch.save() does, which no file of safetensors does.
[[nodiscard]] bool begins_as_torch_file(std::string_view first_bytes);
// How many of the first bytes that takes.
inline constexpr std::size_t kTorchBeginning = 32;

}  // namespace latebind::embedding
