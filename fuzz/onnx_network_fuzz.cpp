// Fuzzes what looks for a vendor's known errors in an ONNX file, by the real table: what is found is of the file. And
// the two readers of names agree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "backends/openvino/known_errors_table.h"
#include "core/onnx/known_errors.h"
#include "core/onnx/port_names.h"

namespace {

using namespace latebind;

const onnx::KnownErrors& errors() {
  static const onnx::KnownErrors kErrors = [] {
    // A version that no line names: all lines are of it.
    const std::vector<std::string> runtimes{"openvino 9999.0"};
    auto read = onnx::KnownErrors::read(openvino::kKnownErrorsTable, "the table", runtimes);
    if (!read.ok() || read->empty()) std::abort();
    return *std::move(read);
  }();
  return kErrors;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const onnx::PortNames names = onnx::port_names_of(bytes);
  const auto network = onnx::read_onnx_network(bytes, "fuzz");
  if (!network.ok()) {
    if (network.status().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (names.inputs != network->network.inputs || names.outputs != network->network.outputs) std::abort();
  const auto report = onnx::find_known_errors(*network, errors());
  for (const auto& [place, why] : report.nodes) {
    if (place >= network->network.nodes.size() || why.empty()) std::abort();
  }
  for (const onnx::InputBound& bound : report.bounds) {
    const auto& inputs = network->network.inputs;
    if (bound.place >= inputs.size() || inputs[bound.place] != bound.input || !(bound.low <= bound.high)) std::abort();
  }
  return 0;
}
