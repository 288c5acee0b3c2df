// Fuzzes the reader of a ready ONNX file's outputs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "embedding/graph/onnx_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace latebind::embedding;
  const auto signature = read_onnx_signature(std::as_bytes(std::span(data, size)), "fuzz");
  if (!signature.ok()) {
    if (signature.status().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto output = choose_embedding_output(*signature, "fuzz");
  if (output.ok() && output->position >= signature->outputs.size()) std::abort();
  if (!output.ok() && output.status().to_string().find('\n') != std::string::npos) std::abort();
  return 0;
}
