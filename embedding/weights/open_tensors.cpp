#include "embedding/weights/open_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "core/model/part_reader.h"
#include "embedding/weights/gguf/gguf_file.h"
#include "embedding/weights/safetensors.h"
#include "embedding/weights/torch/torch_file.h"

namespace latebind::embedding {

core::Result<TensorFile> open_tensors(core::FilePart part, std::string name, const core::FilePart* first_file) {
  std::array<char, kTorchBeginning> first{};
  const std::size_t count = std::min(first.size(), part.bytes.bytes.size());
  const core::PartReader file(part);
  if (!file.read(0, std::as_writable_bytes(std::span(first).first(count)))) return file.why_not();
  if (std::string_view(first.data(), count).starts_with(kGgufMagic)) {
    LB_ASSIGN_OR_RETURN(GgufFile opened, GgufFile::from_part(std::move(part), std::move(name), first_file));
    return TensorFile(std::move(opened));
  }
  const bool is_torch = begins_as_torch_file(std::string_view(first.data(), count)) ||
                        (!name.ends_with(".safetensors") && (name.ends_with(".bin") || name.ends_with(".pt")));
  if (is_torch) {
    LB_ASSIGN_OR_RETURN(TorchFile opened, TorchFile::from_part(std::move(part), std::move(name)));
    return TensorFile(std::move(opened));
  }
  LB_ASSIGN_OR_RETURN(Safetensors opened, Safetensors::from_part(std::move(part), std::move(name)));
  return TensorFile(std::move(opened));
}

}  // namespace latebind::embedding
