// OnnxNetwork: the nodes of an ONNX model and what is known of its tensors, as far as it takes to tell what numbers may
// meet which operator (value_ranges.h, known_errors.h). It computes nothing.
//
// A file is read by read_onnx_network(); a host that has the graph in memory fills the same structures. Everything is
// copied but the data of constants, which borrow from the file or the host.
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

#include "core/result.h"
#include "core/tensor.h"

namespace latebind::onnx {

// A tensor whose numbers the model has.
struct Constant {
  std::optional<core::ElementType> type{};
  std::vector<std::int64_t> shape{};
  // Row-major, little-endian; empty: it has no elements, or its numbers are not looked at (is_read).
  std::span<const std::byte> data{};
  // What `data` refers to where the model has the numbers in another form; else null.
  std::shared_ptr<const std::vector<std::byte>> owned{};
  // False where the numbers are in another file or too many.
  bool is_read = false;
};

// What the model declares of a tensor between nodes.
struct Declared {
  std::optional<core::ElementType> type{};
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where not known
};

struct Network;

struct Attribute {
  // Integers, texts, floating-point numbers as %g has them, and lists of integers with commas, the beginning of long
  // ones; empty for all else.
  std::string text{};
  std::optional<std::int64_t> integer{};
  std::optional<float> number{};
  std::optional<Constant> tensor{};  // lists of numbers, too
  std::vector<std::shared_ptr<const Network>> networks{};
  // Of a node of a function: the attribute of the function's caller that is meant; else empty.
  std::string of_caller{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Node {
  std::string op{};
  std::string domain{};  // "" for ONNX's own
  std::string name{};
  std::vector<std::string> inputs{};  // "" where an optional one is not given
  std::vector<std::string> outputs{};
  Attributes attributes{};
  std::string overload{};  // which function of that name is called
  // The version of ONNX's own operators that it is of, or one by which it means the same; 0: not known.
  std::int64_t opset = 0;

  [[nodiscard]] const Attribute* find(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool has_input(std::size_t place) const { return place < inputs.size() && !inputs[place].empty(); }
  // "MatMul 'layer.0'", for messages.
  [[nodiscard]] std::string text() const { return name.empty() ? op : op + " '" + name + "'"; }
};

// A graph: of a model, of a branch or a loop's body, or of a function that the model defines.
struct Network {
  std::vector<Node> nodes{};  // in the order in which they are computed
  std::map<std::string, Constant, std::less<>> constants{};
  std::map<std::string, Declared, std::less<>> declared{};
  std::vector<std::string> inputs{};  // those that a caller gives
  std::vector<std::string> outputs{};
  Attributes defaults{};  // of a function: its attributes that callers may leave out
};

// By which a function is found: its domain, name and overload with colons between.
[[nodiscard]] inline std::string function_key(const std::string& domain, const std::string& name,
                                              const std::string& overload) {
  return (domain == "ai.onnx" ? "" : domain) + ":" + name + ":" + overload;
}

struct OnnxNetwork {
  Network network{};
  // By function_key(): what stands for such a node.
  std::map<std::string, std::shared_ptr<const Network>, std::less<>> functions{};
};

// Elements of a constant beyond which its numbers are not looked at.
inline constexpr std::size_t kConstantElementsMax = std::size_t{1} << 20U;

// The bytes of a file that tensors have their data in, by the name that the model has for it; empty: not to be had.
using ExternalData = std::function<std::span<const std::byte>(std::string_view location)>;

// kInvalidModel for bytes that are not an ONNX model, or have more than a million nodes, a hundred thousand networks
// within nodes, ten million names, networks within networks deeper than 16, or two functions of one name. `name` stands
// for the file. `bytes` must live as long as what is returned.
[[nodiscard]] core::Result<OnnxNetwork> read_onnx_network(std::span<const std::byte> bytes, std::string_view name,
                                                          const ExternalData& external = {});

}  // namespace latebind::onnx
