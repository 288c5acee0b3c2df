// Reads the names of an ONNX model's inputs and outputs, without reading the rest of it. Pure function, for any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace latebind::onnx {

struct PortNames {
  std::vector<std::string> inputs{};  // those that a caller gives, without the ones that the model has numbers for
  std::vector<std::string> outputs{};
};

// Returns the names in the model's order. Empty for bytes that are not an ONNX model, are damaged, or name more than
// 65,536 ports; the code that reads the model reports those errors. Skips the model's data by its length.
[[nodiscard]] PortNames port_names_of(std::span<const std::byte> model);

}  // namespace latebind::onnx
