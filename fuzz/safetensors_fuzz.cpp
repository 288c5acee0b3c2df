// Fuzzes the reader of safetensors: outside bytes as a file, then tensors by the names and shapes that the seeds use.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "embedding/weights/safetensors.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto tensors = latebind::embedding::Safetensors::from_bytes(bytes, "fuzz");
  if (!tensors.ok()) {
    require(tensors.status().to_string().find('\n') == std::string::npos);
    return 0;
  }
  require(tensors->data_start() <= size);
  const std::array<std::vector<std::int64_t>, 4> shapes{std::vector<std::int64_t>{}, std::vector<std::int64_t>{1},
                                                        std::vector<std::int64_t>{2, 3},
                                                        std::vector<std::int64_t>{0, 4}};
  unsigned char sum = 0;
  for (const char* name : {"", "x", "y", "embeddings.word_embeddings.weight"}) {
    for (const auto& shape : shapes) {
      const auto tensor = tensors->find(name, shape);
      if (!tensor.ok()) continue;
      require(tensors->contains(name));
      require(tensor->offset >= tensors->data_start() && tensor->offset + tensor->bytes.size() <= size);
      require(tensor->bytes.data() == bytes.data() + tensor->offset);
      std::size_t expected = latebind::core::size_of(tensor->type);
      for (const std::int64_t dim : shape)
        expected *= static_cast<std::size_t>(dim);
      require(tensor->bytes.size() == expected);
      for (const std::byte byte : tensor->bytes)
        sum ^= std::to_integer<unsigned char>(byte);
    }
  }
  // The sanitizer sees each byte being read.
  volatile unsigned char sink = sum;
  static_cast<void>(sink);
  return 0;
}
