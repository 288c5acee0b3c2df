// The names of operators and of their members, for code that writes any graph in another form and reads it back
// (backends/plugin/graph_form.h, docs/plugin-contract.md).
//
// A name never changes its meaning. Members that an operator gains later are absent by default (std::optional, or
// false), so that a graph without them reads as before. Pure functions, for any thread.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "core/config.h"
#include "core/graph/operators.h"

namespace latebind::core {

template <>
struct Words<graph::ActivationFunction> {
  static constexpr std::string_view kWhat = "activation function";
  static constexpr std::array kWords{Word<graph::ActivationFunction>{"gelu_erf", graph::ActivationFunction::kGeluErf},
                                     Word<graph::ActivationFunction>{"gelu_tanh", graph::ActivationFunction::kGeluTanh},
                                     Word<graph::ActivationFunction>{"relu", graph::ActivationFunction::kRelu},
                                     Word<graph::ActivationFunction>{"silu", graph::ActivationFunction::kSilu},
                                     Word<graph::ActivationFunction>{"tanh", graph::ActivationFunction::kTanh}};
};

template <>
struct Words<graph::PoolingMode> {
  static constexpr std::string_view kWhat = "pooling mode";
  static constexpr std::array kWords{Word<graph::PoolingMode>{"cls", graph::PoolingMode::kCls},
                                     Word<graph::PoolingMode>{"mean", graph::PoolingMode::kMean},
                                     Word<graph::PoolingMode>{"max", graph::PoolingMode::kMax},
                                     Word<graph::PoolingMode>{"last_token", graph::PoolingMode::kLastToken},
                                     Word<graph::PoolingMode>{"mean_sqrt", graph::PoolingMode::kMeanSqrt},
                                     Word<graph::PoolingMode>{"weighted_mean", graph::PoolingMode::kWeightedMean}};
};

}  // namespace latebind::core

namespace latebind::graph {

// Whether `Given` is the operator `Op`, constant or not.
template <class Given, class Op>
concept Like = std::same_as<std::remove_const_t<Given>, Op>;

// The name of each operator.
template <class Op>
inline constexpr std::string_view kOperatorName{};
template <>
inline constexpr std::string_view kOperatorName<Input> = "input";
template <>
inline constexpr std::string_view kOperatorName<Lookup> = "lookup";
template <>
inline constexpr std::string_view kOperatorName<PositionLookup> = "position_lookup";
template <>
inline constexpr std::string_view kOperatorName<RowLookup> = "row_lookup";
template <>
inline constexpr std::string_view kOperatorName<WholeTable> = "whole_table";
template <>
inline constexpr std::string_view kOperatorName<Add> = "add";
template <>
inline constexpr std::string_view kOperatorName<Multiply> = "multiply";
template <>
inline constexpr std::string_view kOperatorName<Scale> = "scale";
template <>
inline constexpr std::string_view kOperatorName<Columns> = "columns";
template <>
inline constexpr std::string_view kOperatorName<Linear> = "linear";
template <>
inline constexpr std::string_view kOperatorName<Convolution> = "convolution";
template <>
inline constexpr std::string_view kOperatorName<ShortConvolution> = "short_convolution";
template <>
inline constexpr std::string_view kOperatorName<Experts> = "experts";
template <>
inline constexpr std::string_view kOperatorName<Attention> = "attention";
template <>
inline constexpr std::string_view kOperatorName<LayerNorm> = "layer_norm";
template <>
inline constexpr std::string_view kOperatorName<RmsNorm> = "rms_norm";
template <>
inline constexpr std::string_view kOperatorName<Activation> = "activation";
template <>
inline constexpr std::string_view kOperatorName<Pool> = "pool";
template <>
inline constexpr std::string_view kOperatorName<Normalize> = "normalize";

// each_member(op, visit) calls visit(name, member) for each member in a fixed order. A member is a Value, Weight,
// number, bool, enumeration with Words, list of floats, text, one of the structs below, or a std::optional of one.

// The type and the shape of an input are those of its node.
template <Like<Input> Op>
void each_member(Op& op, auto&& visit) {
  visit("name", op.name);
}
template <Like<Lookup> Op>
void each_member(Op& op, auto&& visit) {
  visit("table", op.table);
  visit("ids", op.ids);
}
template <Like<PositionLookup> Op>
void each_member(Op& op, auto&& visit) {
  visit("table", op.table);
  visit("ids", op.ids);
  visit("padding", op.padding);
}
template <Like<RowLookup> Op>
void each_member(Op& op, auto&& visit) {
  visit("table", op.table);
  visit("row", op.row);
}
template <Like<WholeTable> Op>
void each_member(Op& op, auto&& visit) {
  visit("table", op.table);
}
template <class Op>
requires Like<Op, Add> || Like<Op, Multiply>
void each_member(Op& op, auto&& visit) {
  visit("a", op.a);
  visit("b", op.b);
}
template <Like<Scale> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("factor", op.factor);
}
template <Like<Columns> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("width", op.width);
  visit("first", op.first);
  visit("count", op.count);
}
template <Like<Linear> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("weight", op.weight);
  visit("bias", op.bias);
}
template <class Op>
requires Like<Op, Convolution> || Like<Op, ShortConvolution>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("mask", op.mask);
  visit("weight", op.weight);
  visit("bias", op.bias);
}
template <Like<Experts> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("router", op.router);
  visit("wide", op.wide);
  visit("narrow", op.narrow);
  visit("bias", op.bias);
  visit("chosen", op.chosen);
  visit("function", op.function);
}
template <Like<DistanceBias> Op>
void each_member(Op& op, auto&& visit) {
  visit("table", op.table);
  visit("farthest", op.farthest);
}
template <Like<LinearBias> Op>
void each_member(Op& op, auto&& visit) {
  visit("slopes", op.slopes);
  visit("positions", op.positions);
}
template <Like<Disentangled> Op>
void each_member(Op& op, auto&& visit) {
  visit("keys", op.keys);
  visit("queries", op.queries);
  visit("span", op.span);
  visit("farthest", op.farthest);
}
template <Like<Rotary> Op>
void each_member(Op& op, auto&& visit) {
  visit("frequencies", op.frequencies);
  visit("positions", op.positions);
  visit("factor", op.factor);
}
template <Like<Attention> Op>
void each_member(Op& op, auto&& visit) {
  visit("query", op.query);
  visit("key", op.key);
  visit("value", op.value);
  visit("mask", op.mask);
  visit("heads", op.heads);
  visit("key_heads", op.key_heads);
  visit("scale", op.scale);
  visit("distance_bias", op.distance_bias);
  visit("linear_bias", op.linear_bias);
  visit("disentangled", op.disentangled);
  visit("rotary", op.rotary);
  visit("soft_cap", op.soft_cap);
  visit("window", op.window);
  visit("causal", op.causal);
  visit("may_be_unattended", op.may_be_unattended);
}
template <Like<LayerNorm> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("weight", op.weight);
  visit("bias", op.bias);
  visit("epsilon", op.epsilon);
}
template <Like<RmsNorm> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("weight", op.weight);
  visit("offset", op.offset);
  visit("epsilon", op.epsilon);
}
template <Like<Activation> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("function", op.function);
}
template <Like<Pool> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
  visit("mask", op.mask);
  visit("mode", op.mode);
}
template <Like<Normalize> Op>
void each_member(Op& op, auto&& visit) {
  visit("x", op.x);
}

}  // namespace latebind::graph
