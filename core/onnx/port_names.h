// The names of an ONNX model's inputs and outputs, without reading the rest of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace latebind::onnx {

struct PortNames {
  std::vector<std::string> inputs{};  // those that a caller gives: none that the model has numbers for
  std::vector<std::string> outputs{};
};

// In the model's order. Empty for bytes that are no ONNX model, are damaged, or name more than 65,536 ports: what is
// wrong with them is for who reads the model to say. Touches of the model's data no more than its length.
[[nodiscard]] PortNames port_names_of(std::span<const std::byte> model);

}  // namespace latebind::onnx
