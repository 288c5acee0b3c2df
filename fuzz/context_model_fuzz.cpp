// Fuzzes the reader of what plugin providers compile, which also comes from bundles.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "backends/onnxruntime/context_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = latebind::onnxruntime::read_context_model(std::as_bytes(std::span(data, size)));
  if (!model.ok()) return 0;
  if (model->others.first.size() > model->others.count) std::abort();
  for (const auto& [key, value] : model->metadata) {
    if (key.size() + value.size() > size) std::abort();
  }
  (void)model->compatibility("QNNExecutionProvider");
  return 0;
}
