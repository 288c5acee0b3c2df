// Fuzzes what reads a ready ONNX file: its structure, where it has its data, its signature, what is chosen of that, and
// which of its nodes are about integers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/onnx_inline.h"
#include "core/graph/onnx_integer_nodes.h"
#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_structure.h"
#include "embedding/outputs/onnx_end.h"

namespace {

using namespace latebind;

void require_one_line(const core::Status& status) {
  if (status.to_string().find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  require_one_line(graph::check_onnx_structure(bytes));
  if (graph::external_data_locations(bytes).names.size() > graph::kExternalLocationsMax) std::abort();
  const auto integers = graph::read_integer_nodes(bytes, "fuzz");
  require_one_line(integers.status());
  if (integers.ok() && integers->contains("")) std::abort();
  for (const auto& [name, data_of] : graph::initializer_data(bytes)) {
    const bool is_within = data_of.empty() || (data_of.data() >= bytes.data() &&
                                               data_of.data() + data_of.size() <= bytes.data() + bytes.size());
    if (!is_within) std::abort();
  }
  const auto inlined = graph::with_inline_data(
      bytes, [&](std::string_view) { return std::optional(bytes.first(std::min<std::size_t>(size, 64))); });
  require_one_line(inlined.status());
  // What was whole stays whole.
  if (inlined.ok() && !graph::check_onnx_structure(std::as_bytes(std::span(*inlined))).ok()) std::abort();
  // No tensor keeps the place that it had.
  const auto moved = graph::with_external_places(bytes, [](const graph::ExternalPlace&) {
    return core::Result<graph::ExternalPlace>(graph::ExternalPlace{.location = "x", .offset = 1, .length = 2});
  });
  require_one_line(moved.status());
  if (moved.ok()) {
    const auto after = graph::external_data_locations(std::as_bytes(std::span(*moved)));
    if (!after.complete || after.names.size() > 1 || (after.names.size() == 1 && !after.names.contains("x")))
      std::abort();
  }
  const auto signature = graph::read_onnx_signature(bytes, "fuzz");
  require_one_line(signature.status());
  if (!signature.ok()) return 0;
  const auto output = embedding::choose_embedding_output(*signature, "fuzz");
  require_one_line(output.status());
  if (output.ok() && output->position >= signature->outputs.size()) std::abort();
  return 0;
}
