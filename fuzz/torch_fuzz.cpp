// Fuzzes the reader of torch.save()'s files: outside bytes as a file, then each tensor of it, read whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "embedding/weights/torch/pickle.h"
#include "embedding/weights/torch/torch_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_tensors(std::span<const std::byte> bytes) {
  latebind::core::FilePart part;
  part.where.size = bytes.size();
  part.bytes.bytes = bytes;
  const auto file = latebind::embedding::TorchFile::from_part(std::move(part), "fuzz");
  if (!file.ok()) {
    require(file.status().to_string().find('\n') == std::string::npos);
    return;
  }
  require(file->copies().bytes.bytes.size() <= bytes.size());
  unsigned char sum = 0;
  for (const std::string& name : file->names()) {
    const auto shape = file->shape_of(name);
    require(shape.has_value());
    const auto stored = file->stored(name);
    if (!stored) continue;
    for (const std::byte byte : stored->bytes)
      sum ^= std::to_integer<unsigned char>(byte);
    const auto tensor = file->find(name, *shape);
    if (!tensor.ok()) continue;
    require(tensor->bytes.data() == stored->bytes.data());
    const std::span<const std::byte> base = tensor->copied ? file->copies().bytes.bytes : bytes;
    if (!tensor->bytes.empty()) require(tensor->bytes.data() == base.data() + tensor->offset);
    std::size_t expected = latebind::core::size_of(tensor->type);
    for (const std::int64_t dim : *shape)
      expected *= static_cast<std::size_t>(dim);
    require(tensor->bytes.size() == expected);
  }
  // The sanitizer sees each byte being read.
  volatile unsigned char sink = sum;
  static_cast<void>(sink);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // What does not begin as a file is a pickle, which is reached faster alone.
  if (!latebind::embedding::begins_as_torch_file(text)) {
    const auto pickle = latebind::embedding::read_pickle(text);
    if (!pickle.ok()) return 0;
    require(pickle->size <= size && pickle->root < pickle->values.size());
    static_cast<void>(latebind::embedding::find_tensors(*pickle));
    return 0;
  }
  read_tensors(std::as_bytes(std::span(data, size)));
  return 0;
}
