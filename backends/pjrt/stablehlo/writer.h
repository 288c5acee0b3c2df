// NetworkWriter: the state of write_network() and the operators that it writes, each in the file of its kind. One
// thread at a time.
//
// An operator returns the tensor of its value. The first error is kept, and what is written after it is discarded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/pjrt/stablehlo/network.h"
#include "core/graph/operators.h"

namespace latebind::pjrt {

// The number that excludes a token from attention: finite, so that a row without any token has finite results, too.
inline constexpr double kExcluded = -1e30;

class NetworkWriter {
 public:
  NetworkWriter(const graph::Graph& graph, std::span<const core::Shape> input_shapes, Element narrow);
  [[nodiscard]] core::Result<Network> write() &&;

 private:
  using Status = core::Status;

  // inputs and lookups (write_lookups.cpp)
  Tensor write(const graph::Input& op);
  Tensor write(const graph::Lookup& op);
  Tensor write(const graph::PositionLookup& op);
  Tensor write(const graph::RowLookup& op);
  Tensor write(const graph::WholeTable& op);
  // numbers and columns (write_numbers.cpp)
  Tensor write(const graph::Add& op);
  Tensor write(const graph::Multiply& op);
  Tensor write(const graph::Scale& op);
  Tensor write(const graph::Columns& op);
  Tensor write(const graph::LayerNorm& op);
  Tensor write(const graph::RmsNorm& op);
  Tensor write(const graph::Activation& op);
  Tensor write(const graph::Pool& op);
  Tensor write(const graph::Normalize& op);
  // products (write_products.cpp)
  Tensor write(const graph::Linear& op);
  Tensor write(const graph::Convolution& op);
  Tensor write(const graph::ShortConvolution& op);
  Tensor write(const graph::Experts& op);
  // attention (write_attention.cpp)
  Tensor write(const graph::Attention& op);
  Tensor turned(const graph::Rotary& rotary, const Tensor& x);
  // The scores of softmax, and which of them count; the last two dimensions are T and T, or T, heads of a group and T.
  struct Scores {
    Tensor numbers;
    std::size_t tokens = 0;  // the place of T of the queries; T of the keys is the last one
  };
  // Products of each token's `x` [B,T,heads,w] with the rows of `rows_of` for its distances to all tokens ->
  // [B,heads,T,T]. The distance to token s is t - s, or s - t if `is_reversed`.
  Tensor distance_products(const graph::Disentangled& terms, graph::Value rows_of, const Tensor& x, bool is_reversed);
  void add_biases(const graph::Attention& op, Scores& scores);
  Tensor allowed(const graph::Attention& op, const Scores& scores);

  [[nodiscard]] const Tensor& value(graph::Value of) const { return values_[of.node]; }
  // A weight as an argument. In f32, or for products in the precision of the model.
  Tensor weight(const graph::Weight& of, Element element);
  Tensor wide(const graph::Weight& of) { return weight(of, Element::kF32); }
  // A table as an argument; tables with the same key are the same.
  Tensor table(const std::string& key, Dims dims, std::vector<float> numbers);
  Tensor table(const std::string& key, Dims dims, std::vector<std::int32_t> numbers);
  Tensor add_constant(const std::string& key, NetworkConstant constant);
  // [B,T], true for tokens that others attend to.
  Tensor attended(graph::Value mask);
  Tensor activated(const Tensor& x, graph::ActivationFunction function);
  // x [..,I] · weightᵀ [O,I] -> f32 [..,O]
  Tensor product(const Tensor& x, const graph::Weight& of);
  // Notes that the value, which must be an input, has ids below `end`, or is a mask.
  void expect_ids(graph::Value ids, std::int64_t end);
  void expect_mask(graph::Value mask, bool may_be_unattended);
  NetworkInput* input_of(graph::Value value, std::string_view what);
  void fail(Status status);

  const graph::Graph& graph_;
  const std::span<const core::Shape> input_shapes_;
  const Element narrow_;
  HloText hlo_;
  std::vector<Tensor> values_;
  std::vector<NetworkInput> inputs_;
  std::map<std::uint32_t, std::size_t> input_numbers_;  // of nodes
  std::map<std::string, std::size_t, std::less<>> known_constants_;
  std::vector<NetworkConstant> constants_;
  std::vector<Tensor> constant_values_;
  Status status_;
};

}  // namespace latebind::pjrt
