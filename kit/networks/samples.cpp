#include "kit/networks/samples.h"

#include <utility>

#include "kit/networks/batches.h"
#include "kit/networks/pattern_weights.h"
#include "kit/networks/random_encoder.h"

namespace latebind::kit {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using graph::Value;

constexpr std::int64_t kColumns = 8;
constexpr std::int64_t kTokens = 5;
constexpr std::int64_t kVocabulary = 50;

Array draw_numbers(std::mt19937& chance, const Dims& dims) {
  std::uniform_real_distribution<float> number(-2, 2);
  Array array{dims, {}};
  for (std::int64_t i = 0; i < count_of(dims); ++i)
    array.values.push_back(static_cast<double>(number(chance)));
  return array;
}

Inputs draw_x(std::mt19937& chance, std::int64_t rows) {
  return {{"x", draw_numbers(chance, {rows, kColumns})}};
}
Inputs draw_x_and_z(std::mt19937& chance, std::int64_t rows) {
  Inputs inputs = draw_x(chance, rows);
  inputs["z"] = draw_numbers(chance, {rows, kColumns});
  return inputs;
}
Inputs draw_texts(std::mt19937& chance, std::int64_t rows) {
  std::vector<std::int64_t> lengths{kTokens};
  while (static_cast<std::int64_t>(lengths.size()) < rows)
    lengths.push_back(std::uniform_int_distribution<std::int64_t>(1, kTokens)(chance));
  return draw_batch(chance, lengths, kVocabulary);
}
Inputs draw_ids(std::mt19937& chance, std::int64_t rows) {
  Inputs inputs = draw_texts(chance, rows);
  inputs.erase("mask");
  return inputs;
}

// A graph that computes from x [rows, 8].
class OnNumbers {
 public:
  explicit OnNumbers(const PatternWeights& weights, bool is_static)
      : graph_(weights.part()), shape_{is_static ? Sample::kStaticRows : core::kDynamic, kColumns} {}
  Value input(const char* name) { return graph_.add(graph::Input{name, ElementType::kF32, shape_}); }
  Value add(graph::Operator op) { return graph_.add(std::move(op)); }
  Result<graph::Graph> finish(Value y) && { return std::move(graph_).finish(y, "y"); }

 private:
  graph::GraphBuilder graph_;
  const Shape shape_;
};

Result<graph::Graph> make_encoder(bool is_static) {
  if (!is_static) return encoder({.vocabulary = kVocabulary, .layers = 2});
  PatternWeights weights;
  const graph::Weight table = weights.add("table", ElementType::kF32, {kVocabulary, kColumns});
  graph::GraphBuilder graph(weights.part());
  const Shape tokens{Sample::kStaticRows, kTokens};
  const Value ids = graph.add(graph::Input{"ids", ElementType::kI64, tokens});
  const Value mask = graph.add(graph::Input{"mask", ElementType::kI64, tokens});
  const Value x = graph.add(graph::Lookup{table, ids});
  return std::move(graph).finish(graph.add(graph::Pool{x, mask, graph::PoolingMode::kMean}), "y");
}

Result<graph::Graph> make_layers(bool is_static) {
  PatternWeights weights;
  const graph::Weight wide = weights.add("wide", ElementType::kF32, {12, kColumns});
  const graph::Weight wide_bias = weights.add("wide_bias", ElementType::kF32, {12});
  const graph::Weight narrow = weights.add("narrow", ElementType::kF32, {6, 12});
  OnNumbers made(weights, is_static);
  const Value inner = made.add(graph::Linear{.x = made.input("x"), .weight = wide, .bias = wide_bias});
  const Value active = made.add(graph::Activation{.x = inner, .function = graph::ActivationFunction::kRelu});
  return std::move(made).finish(made.add(graph::Linear{.x = active, .weight = narrow}));
}

Result<graph::Graph> make_linear(bool is_static) {
  PatternWeights weights;
  const graph::Weight weight = weights.add("weight", ElementType::kF32, {6, kColumns});
  OnNumbers made(weights, is_static);
  return std::move(made).finish(made.add(graph::Linear{.x = made.input("x"), .weight = weight}));
}

Result<graph::Graph> make_sum(bool is_static) {
  OnNumbers made({}, is_static);
  const Value x = made.input("x");
  return std::move(made).finish(made.add(graph::Add{.a = x, .b = made.input("z")}));
}

Result<graph::Graph> make_product(bool is_static) {
  OnNumbers made({}, is_static);
  const Value x = made.input("x");
  return std::move(made).finish(made.add(graph::Multiply{.a = x, .b = made.input("z")}));
}

Result<graph::Graph> make_activation(bool is_static) {
  OnNumbers made({}, is_static);
  return std::move(made).finish(
      made.add(graph::Activation{.x = made.input("x"), .function = graph::ActivationFunction::kRelu}));
}

Result<graph::Graph> make_scale(bool is_static) {
  OnNumbers made({}, is_static);
  return std::move(made).finish(made.add(graph::Scale{.x = made.input("x"), .factor = 3}));
}

Result<graph::Graph> make_norm(bool is_static) {
  PatternWeights weights;
  const graph::Weight weight = weights.add("weight", ElementType::kF32, {kColumns});
  OnNumbers made(weights, is_static);
  return std::move(made).finish(made.add(graph::LayerNorm{.x = made.input("x"), .weight = weight, .epsilon = 1e-5}));
}

Result<graph::Graph> make_lookup(bool is_static) {
  PatternWeights weights;
  const graph::Weight table = weights.add("table", ElementType::kF32, {kVocabulary, kColumns});
  graph::GraphBuilder graph(weights.part());
  const Shape tokens = is_static ? Shape{Sample::kStaticRows, kTokens} : Shape{core::kDynamic, core::kDynamic};
  const Value ids = graph.add(graph::Input{"ids", ElementType::kI64, tokens});
  return std::move(graph).finish(graph.add(graph::Lookup{table, ids}), "y");
}

struct SampleMaker {
  const char* name;
  Result<graph::Graph> (*make)(bool is_static);
  Inputs (*draw)(std::mt19937& chance, std::int64_t rows);
};

constexpr SampleMaker kMakers[] = {
    {"an encoder", make_encoder, draw_texts},   {"two layers", make_layers, draw_x},
    {"a linear layer", make_linear, draw_x},    {"a norm", make_norm, draw_x},
    {"a sum", make_sum, draw_x_and_z},          {"a product", make_product, draw_x_and_z},
    {"an activation", make_activation, draw_x}, {"a scaled input", make_scale, draw_x},
    {"a lookup", make_lookup, draw_ids}};

}  // namespace

Result<std::vector<Sample>> samples(bool is_static) {
  std::vector<Sample> all;
  for (const SampleMaker& maker : kMakers) {
    LB_ASSIGN_OR_RETURN(graph::Graph graph, maker.make(is_static));
    all.push_back({maker.name, std::move(graph), is_static, maker.draw});
  }
  return all;
}

}  // namespace latebind::kit
