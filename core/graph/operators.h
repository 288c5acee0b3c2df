// The operators of a Graph: a network at the level of layers, each operator with its definition.
//
// Code that reads a graph visits the variant `Operator` at the end; a missing case does not compile. A new operator is
// a struct here, a rule in graph.cpp (its operands and its result), a line in description.cpp, a case in lowering.cpp,
// and a case in the tests' evaluator, which computes every operator as defined here and is the reference.
//
// Shapes. B texts, T tokens of the longest one, H numbers per token. [B,T] and [B,T,H] are notation: they describe
// texts padded at their ends to one length, with a mask (1 for tokens, 0 for padding) that marks the tokens. Each text
// has at least one token. No value at a padding position affects a token or a text's vector: PositionLookup,
// Attention, ShortConvolution and Pool are the only operators that do not treat all tokens alike, and the last three
// are given the mask. An implementation may therefore take a ragged batch, the tokens of all texts one after the other
// with the start of each, and leave out the padding. Only a graph's output with T in its shape has padding; the values
// there are unspecified.
//
// Where Attention allows it, a mask may also have kUnattended for the last tokens of a text: these are ordinary tokens,
// but no token attends to them. Such a graph has no Pool.
//
// Types. Everything is computed in f32 or, if the caller allows it, in lower precision; weights are converted first,
// exactly. Plain values, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace latebind::graph {

// The value of a node, valid in the list of nodes that returned it.
struct Value {
  std::uint32_t node = 0;
};

// In a mask: a token that attends to others, but to which no token attends, not even itself. At least one token before
// it is attended to.
inline constexpr std::int64_t kUnattended = -1;

// A constant of the model, identified by its place: f32, f16 or bf16, row-major, at `offset` of one of
// Graph::weights(), at any alignment.
struct Weight {
  std::string name;  // as its file calls it; unique
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
  std::uint64_t offset = 0;
  std::size_t file = 0;
};

// A tensor that the caller gives under this name.
struct Input {
  std::string name;
  core::ElementType type = core::ElementType::kI64;
  core::Shape shape;  // core::kDynamic for B and T
};

// y[b,t] = table[ids[b,t]]: table [N,H], ids i64 [B,T], each 0 ≤ id < N -> [B,T,H]
struct Lookup {
  Weight table;
  Value ids;
};

// y[t] = table[t], the same for all texts: table [N,H], ids [B,T] only for its T ≤ N -> [T,H]
//
// With a padding id p, 0 ≤ p and T < N - p, the rows depend on the ids, and all tokens with that id share one row:
// y[b,t] = table[p] if ids[b,t] is p, otherwise table[p + c], where c counts the tokens s ≤ t whose ids[b,s] is not p
// -> [B,T,H]
struct PositionLookup {
  Weight table;
  Value ids;
  std::optional<std::int64_t> padding = std::nullopt;
};

// y = table[row], the same for all tokens: table [N,H], 0 ≤ row < N -> [H]
struct RowLookup {
  Weight table;
  std::int64_t row = 0;
};

// y = table, a value [N,H] that depends on weights alone. A backend may compute LayerNorm and Linear of it once, when
// it loads the model.
struct WholeTable {
  Weight table;
};

// y = a + b: b has the shape of a or a suffix of it, and is broadcast over the rest -> as a
struct Add {
  Value a;
  Value b;
};

// y = a · b, number by number, of one shape -> as a
struct Multiply {
  Value a;
  Value b;
};

// y = factor · x -> as x
struct Scale {
  Value x;
  float factor = 1;
};

// y = x · weightᵀ + bias: x [..,I], weight [O,I], bias [O] (optional) -> [..,O]
struct Linear {
  Value x;
  Weight weight;
  std::optional<Weight> bias = std::nullopt;
};

// Takes `count` columns of each group of `width` columns of x: y[..,g·count + i] = x[..,g·width + first + i] for i <
// count: x [..,G·width], 0 ≤ first, 0 < count ≤ width - first -> [..,G·count]
struct Columns {
  Value x;
  std::int64_t width = 1;
  std::int64_t first = 0;
  std::int64_t count = 1;
};

// Over the tokens of each text, y[b,t] = Σ weight[:,:,k] · x[b,t + k - (K-1)/2] + bias over k < K, where x is 0 before
// the first token and after the last one: x [B,T,I], mask i64 [B,T], weight [O,I,K], K odd, bias [O] (optional) ->
// [B,T,O]
struct Convolution {
  Value x;
  Value mask;
  Weight weight;
  std::optional<Weight> bias = std::nullopt;
};

// A number for each head and each distance between two tokens: table [N,heads], where N is a multiple of 4. With d = s
// - t, e = N/4 and f > e, the farthest distance that is distinguished, tokens t and s use table[bucket(d)]. bucket(d)
// is |d| if that is below e, otherwise e + ⌊e · log(|d| / e) / log(f / e)⌋, at most N/2 - 1; and N/2 more if d > 0.
//
// Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (2020).
struct DistanceBias {
  Weight table;
  std::int64_t farthest = 128;
};

// A bias for each head that grows with the distance between two tokens: tokens t and s, in a text of at most
// `positions` tokens, have -slopes[head] · |s - t|. There is one slope for each head.
//
// Source: Press et al., "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation"
// (2022), in both directions.
struct LinearBias {
  std::vector<float> slopes;
  std::int64_t positions = 0;
};

// Scores between the content of one token and the relative position of two tokens. For tokens t and s, attention adds
// to the scores of head h, which has the columns h·w to (h+1)·w - 1,
//   scale · (query[b,t,h] · keys[row(t - s),h] + key[b,s,h] · queries[row(t - s),h])
// Both tables are values [2·span,H] that depend on weights alone; at least one is set, and the other one adds nothing.
//   row(d) = min(max(place(d) + span, 0), 2·span - 1)
// Without `farthest`, place(d) = d. With it, m = span/2 is a whole number above 1, farthest > m + 1, and, in f32,
//   place(d) = d if |d| ≤ m, otherwise ±(m + ⌈log(|d| / m) / log((farthest - 1) / m) · (m - 1)⌉) with the sign of d
//
// Source: He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention" (2021), and its second version.
struct Disentangled {
  std::optional<Value> keys = std::nullopt;
  std::optional<Value> queries = std::nullopt;
  std::int64_t span = 1;
  std::optional<std::int64_t> farthest = std::nullopt;
};

// Rotates pairs of components of queries and keys by angles that grow with the position, so that their products depend
// on the distance. A head has w columns, two for each frequency. For a token at position t < positions:
//   y[i] = x[i] · c - x[i + w/2] · s, y[i + w/2] = x[i + w/2] · c + x[i] · s, for i < w/2
// where c = factor · cos a, s = factor · sin a and a = t · frequencies[i]. The products are rounded to f32, as in the
// reference.
//
// Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
struct Rotary {
  std::vector<float> frequencies;  // in radians per position
  std::int64_t positions = 0;
  float factor = 1;

  friend bool operator==(const Rotary&, const Rotary&) = default;
};

// Multi-head attention between the tokens of each text. Head h uses the columns h·w to (h+1)·w - 1 of query and y, with
// w = H / heads, and the columns of head k = ⌊h · key_heads / heads⌋ of key and value, which several heads may share:
//   y[b,t,h] = Σ p[s] · value[b,s,k], p = softmax over s of scale · (query[b,t,h] · key[b,s,k]) + the biases of
//   s - t and the disentangled scores, and 0 where mask[b,s] is not 1, |s - t| is beyond the window or, if causal, s >
//   t
// With a soft cap, each scaled product is replaced by cap · tanh(product / cap). y is 0 for an unattended token
// that can see no attended token. query [B,T,H], key, value [B,T,w·key_heads], key_heads a divisor of heads, mask i64
// [B,T] -> [B,T,H]. scale, soft cap > 0. At most one of the biases may be set. Disentangled scores exclude rotary
// positions and the soft cap, and require key_heads = heads.
//
// Features that only some models need become members here that are absent by default.
struct Attention {
  Value query;
  Value key;
  Value value;
  Value mask;
  std::int64_t heads = 1;
  std::int64_t key_heads = heads;
  float scale = 1;
  std::optional<DistanceBias> distance_bias = std::nullopt;
  std::optional<LinearBias> linear_bias = std::nullopt;
  std::optional<Disentangled> disentangled = std::nullopt;
  std::optional<Rotary> rotary = std::nullopt;
  std::optional<float> soft_cap = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool causal = false;
  bool may_be_unattended = false;  // the mask may have kUnattended
};

// A causal depthwise convolution: each of the H columns is summed separately over a token and the N - 1 tokens before
// it. The sum is over d from 0 to N - 1 with d ≤ t:
//   y[b,t,i] = Σ weight[i,N-1-d] · x[b,t-d,i] + bias[i]
// x [B,T,H], mask i64 [B,T], weight [H,N], bias [H] (optional) -> [B,T,H]. A mask with kUnattended is not allowed.
struct ShortConvolution {
  Value x;
  Value mask;
  Weight weight;
  std::optional<Weight> bias = std::nullopt;
};

enum class ActivationFunction : std::uint8_t {
  kGeluErf,   // x/2 · (1 + erf(x / √2))
  kGeluTanh,  // x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
  kRelu,      // max(x, 0)
  kSilu,      // x / (1 + exp(-x))
  kTanh,
};

// A feed-forward part with E experts. Each token uses the `chosen` experts with the largest p; of equal ones, the
// first:
//   y[b,t] = Σ p[e] · (f(x[b,t] · wide[e]ᵀ) · narrow[e]) + bias, p = softmax over e of router[b,t]
// x [B,T,H], router [B,T,E], wide and narrow [E·F,H] with F consecutive rows for each expert, bias [H] (optional) -> as
// x
//
// Source: Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer" (2017),
// except that p is over all experts.
struct Experts {
  Value x;
  Value router;
  Weight wide;
  Weight narrow;
  std::optional<Weight> bias = std::nullopt;
  std::int64_t chosen = 1;
  ActivationFunction function = ActivationFunction::kGeluErf;
};

// Over the last dimension, y = (x - mean(x)) / √(mean((x - mean(x))²) + epsilon) · weight + bias: x [..,H], weight [H],
// bias [H] (optional) -> as x
struct LayerNorm {
  Value x;
  Weight weight;
  std::optional<Weight> bias = std::nullopt;
  double epsilon = 1e-12;
};

// Over each group of W numbers of the last dimension, whose size is a multiple of W, y = x / √(mean(x²) + epsilon) ·
// (weight + offset): x [..,H], weight [W] -> as x
//
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).
struct RmsNorm {
  Value x;
  Weight weight;
  float offset = 0;
  double epsilon = 1e-6;
};

// Applied to each number -> as x
struct Activation {
  Value x;
  ActivationFunction function = ActivationFunction::kGeluErf;
};

// How the vectors of a text's tokens (those that the mask keeps) become the text's vector.
enum class PoolingMode : std::uint8_t {
  kCls,           // the vector of the first token
  kMean,          // their sum / max(their number, 1e-9)
  kMax,           // the largest of each component
  kLastToken,     // the vector of the last token
  kMeanSqrt,      // their sum / √(their number)
  kWeightedMean,  // the mean, in which the first token counts once, the second one twice and so on
};

// x [B,T,H], mask i64 [B,T] -> [B,H]
struct Pool {
  Value x;
  Value mask;
  PoolingMode mode = PoolingMode::kMean;
};

// y = x / max(√Σx², 1e-12) over the last dimension: x [B,H] or [B,T,H] -> as x
struct Normalize {
  Value x;
};

using Operator =
    std::variant<Input, Lookup, PositionLookup, RowLookup, WholeTable, Add, Multiply, Scale, Columns, Linear,
                 Convolution, ShortConvolution, Experts, Attention, LayerNorm, RmsNorm, Activation, Pool, Normalize>;

// One function for each alternative of a variant, for std::visit.
template <class... Functions>
struct Cases : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Cases(Functions...) -> Cases<Functions...>;

}  // namespace latebind::graph
