// OnnxNetwork: the nodes of an ONNX model and what is known about its tensors, as far as needed to decide which numbers
// may reach which operator (value_range.h, known_errors.h). It computes nothing.
//
// read_onnx_network() reads a file; a host that has the graph in memory fills the same structures. Everything is copied
// except the data of constants, which borrow from the file or the host. Plain values.
//
// Source: onnx.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/onnx_reader.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::onnx {

// A tensor whose numbers are in the model.
struct Constant {
  std::optional<core::ElementType> type{};
  std::vector<std::int64_t> shape{};
  // Row-major, little-endian. Empty when the tensor has no elements, or when its numbers are not read (is_read).
  std::span<const std::byte> data{};
  // Owns what `data` refers to if the model has the numbers in another form; otherwise null.
  std::shared_ptr<const std::vector<std::byte>> owned{};
  // False when the numbers are in another file that cannot be read, or are too many.
  bool is_read = false;
};

using Declared = graph::DeclaredTensor;

struct Network;

struct Attribute {
  // Integers, texts, floating-point numbers as %g writes them, and lists of integers with commas (of a long list, the
  // beginning); empty for everything else.
  std::string text{};
  std::optional<std::int64_t> integer{};
  std::optional<float> number{};
  std::optional<Constant> tensor{};  // also for lists of numbers
  std::vector<std::shared_ptr<const Network>> networks{};
  // For a node of a function: the attribute of the function's caller that this one stands for; otherwise empty.
  std::string of_caller{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Node {
  std::string op{};
  std::string domain{};  // "" for ONNX's own
  std::string name{};
  std::vector<std::string> inputs{};  // "" for an optional one that is not given
  std::vector<std::string> outputs{};
  Attributes attributes{};
  std::string overload{};  // selects among functions of the same name
  // The version of ONNX's own operators that the node uses, or one in which it has the same meaning; 0 when unknown.
  std::int64_t opset = 0;

  [[nodiscard]] const Attribute* find(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool has_input(std::size_t place) const { return place < inputs.size() && !inputs[place].empty(); }
  // Returns a text for messages: "MatMul 'layer.0'".
  [[nodiscard]] std::string text() const { return name.empty() ? op : op + " '" + name + "'"; }
};

// A graph: of a model, of a branch or a loop's body, or of a function that the model defines.
struct Network {
  std::vector<Node> nodes{};  // in the order in which they are computed
  std::map<std::string, Constant, std::less<>> constants{};
  std::map<std::string, Declared, std::less<>> declared{};
  std::vector<std::string> inputs{};  // those that a caller gives
  std::vector<std::string> outputs{};
  Attributes defaults{};  // for a function: the attributes that callers may leave out
};

// Returns the key of a function: its domain, name and overload, separated by colons.
[[nodiscard]] inline std::string function_key(const std::string& domain, const std::string& name,
                                              const std::string& overload) {
  return (domain == "ai.onnx" ? "" : domain) + ":" + name + ":" + overload;
}

// A model: its graph and its functions.
struct OnnxNetwork {
  Network network{};
  // The functions, by function_key(). A function replaces the node that calls it.
  std::map<std::string, std::shared_ptr<const Network>, std::less<>> functions{};
};

// The numbers of a constant with more elements than this are not read.
inline constexpr std::size_t kConstantElementsMax = std::size_t{1} << 20U;

// Returns the bytes of a file in which tensors have their data, by the name that the model uses; empty when it is not
// available.
using ExternalData = std::function<std::span<const std::byte>(std::string_view location)>;

// Reads a model. kInvalidModel for bytes that are not an ONNX model, and for a model with more than a million nodes, a
// hundred thousand networks within nodes, ten million names, networks nested deeper than 16, or two functions of one
// name. `name` is the file's name for messages. `bytes` must live as long as the result.
[[nodiscard]] core::Result<OnnxNetwork> read_onnx_network(std::span<const std::byte> bytes, std::string_view name,
                                                          const ExternalData& external = {});

}  // namespace latebind::onnx
