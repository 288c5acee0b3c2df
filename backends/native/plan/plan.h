// Plan: a graph as a list of steps over slots. It is made once, when a model is loaded, is constant afterwards, and may
// be used by any number of threads.
//
// A slot is a matrix with a row for each token of the texts that are computed together; after the pooling, it has a row
// for each text. A slot is reused when its value is no longer needed. Most steps treat each token separately. Therefore
// a thread can execute several of them on a block of rows that stays in the cache, or, if there are few tokens, the
// threads can divide a step by columns. A slot whose value is needed only between such steps has only the
// rows of one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/native/memory/weights.h"
#include "backends/native/plan/place_tables.h"
#include "core/graph/graph.h"
#include "core/result.h"

namespace latebind::native {

using Slot = std::size_t;

// y = table[ids]
struct LookUp {
  Table table;
  std::size_t ids = 0;  // index in Plan::inputs
  Slot y = 0;
};

// x += the rows of the tables at each token's place + the constant
struct AddTerms {
  Slot x = 0;
  std::vector<Table> by_position;
  std::vector<float> constant;  // empty, or one number for each column
};

// y = x
struct Copy {
  Slot x = 0;
  Slot y = 0;
};

// x += y
struct AddRows {
  Slot x = 0;
  Slot y = 0;
};

// x *= y
struct MultiplyRows {
  Slot x = 0;
  Slot y = 0;
};

// y = from each group of `width` columns of x, the `count` columns from `first` on
struct TakeColumns {
  Slot x = 0;
  Slot y = 0;
  std::size_t width = 1;
  std::size_t first = 0;
  std::size_t count = 1;
};

// y[t, i · count + k] = x[t + k - (count - 1) / 2, i], 0 beyond the ends of the text
struct Neighbours {
  Slot x = 0;
  Slot y = 0;
  std::size_t count = 1;  // odd
};

// x rotated by its positions, head by head
struct Rope {
  Slot x = 0;
  std::size_t heads = 1;
  std::size_t table = 0;  // index in Plan::ropes
};

// y = x converted to an operand of a product
struct Convert {
  Slot x = 0;
  Slot y = 0;
};

// y = x · weight + bias
struct Multiply {
  Slot x = 0;  // converted, if the product requires it
  Slot y = 0;
  std::size_t matrix = 0;  // index in Plan::matrices
  std::vector<float> bias;
};

// y = layer norm of x; y may be x
struct Norm {
  Slot x = 0;
  Slot y = 0;
  std::vector<float> weight;
  std::vector<float> bias;
  float epsilon = 0;
};

// y = RMS norm of x over groups of weight.size() numbers; y may be x
struct RmsNorm {
  Slot x = 0;
  Slot y = 0;
  std::vector<float> weight;
  float epsilon = 0;
};

// x *= factor
struct Scale {
  Slot x = 0;
  float factor = 1;
};

// x = function(x)
struct Activate {
  Slot x = 0;
  graph::ActivationFunction function{};
};

struct Attend {
  Slot query = 0;
  Slot key = 0;
  Slot value = 0;
  Slot y = 0;
  std::size_t heads = 1;
  std::size_t key_heads = 1;
  float scale = 1;
  float soft_cap = 0;                      // 0: none
  std::optional<std::size_t> distances{};  // index in Plan::distances
  std::optional<std::size_t> places{};     // index in Plan::places
  std::size_t window = SIZE_MAX;
  bool causal = false;
};

// y = graph::ShortConvolution of x; y and x are different slots
struct Convolve {
  Slot x = 0;
  Slot y = 0;
  std::vector<float> weight;  // one row for each distance to an earlier token, nearest first
  std::vector<float> bias;
};

// x = softmax(x), with 0 in place of all but the `chosen` largest numbers
struct Choose {
  Slot x = 0;
  std::size_t chosen = 1;
};

// The matrices of the experts, as indices in Plan::matrices, and their inputs. `shares` has a row for each token with
// the factor of each expert's result, which is 0 for experts that the token does not use.
struct ExpertMatrices {
  Slot x = 0;
  Slot shares = 0;
  Slot y = 0;
  std::vector<std::size_t> matrices;
};

// y = function(x · matrix) for each expert that a token uses; their results are side by side
struct Widen {
  ExpertMatrices experts;
  graph::ActivationFunction function{};
};

// y = Σ share · (the expert's part of x · its matrix) over the experts that a token uses, + bias
struct Narrow {
  ExpertMatrices experts;
  std::vector<float> bias;
};

// x = x / max(√Σx², 1e-12)
struct Normalize {
  Slot x = 0;
};

struct Step {
  std::variant<LookUp, AddTerms, Copy, AddRows, MultiplyRows, Scale, TakeColumns, Neighbours, Rope, Convert, Multiply,
               Norm, RmsNorm, Activate, Choose, Normalize, Attend, Convolve, Widen, Narrow>
      what;
  // If threads share steps, all of them must have finished the earlier steps.
  bool waits = false;

  // Returns whether the step needs all tokens of the texts at once. In attention and convolutions, tokens depend on
  // each other; in steps of experts, a matrix is read once for all tokens that use it.
  [[nodiscard]] bool takes_all() const {
    return std::holds_alternative<Attend>(what) || std::holds_alternative<Neighbours>(what) ||
           std::holds_alternative<Convolve>(what) || std::holds_alternative<Widen>(what) ||
           std::holds_alternative<Narrow>(what);
  }
};

// Rows in position tables, counted as by graph::PositionLookup.
struct CountedPlaces {
  std::size_t ids = 0;  // index in Plan::inputs
  std::uint32_t padding = 0;

  friend bool operator==(const CountedPlaces&, const CountedPlaces&) = default;
};

// The rotations of all attention with heads of this width.
struct RopeTable {
  graph::Rotary rotary;
  std::size_t width = 0;
  graph::Turns angles;
};

// The terms of a graph::DistanceBias, or of a graph::LinearBias (which has slopes), in the form of AttentionHead, for
// all attention with this scale.
struct DistanceTable {
  graph::Weight weight;
  std::vector<float> slopes;
  std::size_t farthest = 0;
  float scale = 0;
  std::vector<float> numbers;  // one head after the other

  [[nodiscard]] const float* of_head(std::size_t head) const { return numbers.data() + head * (2 * farthest + 1); }
};

// The places of the slots in a workspace, in numbers.
struct Layout {
  struct Place {
    std::size_t stride = 0;  // distance between rows
    std::size_t before = 0;  // sum of the strides of the preceding slots of the same kind
    // A full slot has a row for each token; other slots have only the rows of one block.
    bool is_full = true;
  };
  std::vector<Place> places;  // by slot
  std::size_t full = 0;       // sum of the strides of all full slots
  std::size_t block = 0;      // sum of the strides of the other slots

  // The size of a workspace for `tokens` tokens that are computed `at_a_time` at a time.
  [[nodiscard]] std::size_t size(std::size_t tokens, std::size_t at_a_time) const {
    return full * tokens + block * at_a_time;
  }
  // The offset of the slot in that workspace.
  [[nodiscard]] std::size_t begin(Slot slot, std::size_t tokens, std::size_t at_a_time) const {
    const Place& place = places[slot];
    return place.is_full ? place.before * tokens : full * tokens + place.before * at_a_time;
  }
};

struct Plan {
  // The product of all Multiply and Attend steps.
  const Product& product;
  // Keeps the file of the tables open.
  std::shared_ptr<const graph::Graph> graph;
  // The id inputs, and for each input the number that all its ids must be below.
  std::vector<graph::Input> inputs;
  std::vector<std::size_t> ids_end;
  std::optional<graph::Input> mask;  // std::nullopt if no step needs it

  std::vector<Step> steps;
  // The steps on the pooled vectors. The rows of the texts are the first ones of a slot. takes_all() is false
  // for all of these steps.
  std::vector<Step> text_steps;
  std::vector<std::size_t> widths;  // of each slot
  Layout layout;
  PackedMatrices matrices;
  std::vector<RopeTable> ropes;
  std::vector<DistanceTable> distances;
  std::vector<PlaceTable> places;
  std::size_t positions_max = 0;                // tokens of a text; 0: any number
  std::optional<CountedPlaces> counted_places;  // std::nullopt: a token's place is its position in the text
  bool by_distance = false;                     // attention depends on the distance between two tokens
  bool may_be_unattended = false;               // the last tokens of a text may be unattended

  struct Pooling {
    graph::PoolingMode mode{};
    Slot x = 0;
    Slot y = 0;
  };
  std::optional<Pooling> pooling;
  struct Result {
    Slot slot = 0;         // no later step writes to it
    bool by_text = false;  // after the pooling: a row for each text, else for each token
    std::size_t width = 0;
  };
  std::vector<Result> results;  // of each output of the graph

  Plan(const Kernels& kernels, const Product& product_) : product(product_), matrices(kernels, product_) {}
};

// Makes a plan; its weights are not packed yet. `files` are the graph's, and `product` is one of the kernels'. Returns
// kUnsupported, naming the first operator that `native` does not compute in its place, or the errors of PartReader.
[[nodiscard]] core::Result<Plan> make_plan(std::shared_ptr<const graph::Graph> graph, const WeightFiles& files,
                                           const Kernels& kernels, const Product& product);

}  // namespace latebind::native
