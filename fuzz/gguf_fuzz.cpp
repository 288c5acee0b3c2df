// Fuzzes the reader of GGUF's metadata, which finds where such a file comes from.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "embedding/folder/gguf.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto origin = latebind::embedding::read_gguf_origin(std::as_bytes(std::span(data, size)));
  if (!origin) return 0;
  require(origin->repository.empty() == origin->key.empty());
  require(origin->repository.size() <= size && origin->name.size() <= size);
  return 0;
}
