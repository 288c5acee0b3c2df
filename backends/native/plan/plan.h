// Plan: a graph as a list of steps over slots, made once when a model is loaded.
//
// A slot is a matrix with a row for each token of the texts that are computed together, or behind the pooling for each
// text; values whose time is over leave their slots to others. All steps but Attend treat each token alone: they can be
// done for a few rows after the other while these are in the cache, or, where there are few tokens, be shared out by
// columns among threads. What a slot holds may be needed between two of these steps only: then there need not be more
// rows of it than are done at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/native/memory/weights.h"
#include "core/graph/graph.h"
#include "core/result.h"

namespace latebind::native {

using Slot = std::size_t;

// y = table[ids]
struct LookUp {
  Table table;
  std::size_t ids = 0;  // which of the plan's inputs
  Slot y = 0;
};

// x += the rows of the tables at each token's place, and the constant
struct AddTerms {
  Slot x = 0;
  std::vector<Table> by_position;
  std::vector<float> constant;  // empty, or a number for each column
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

// x turned by its positions, head by head
struct Turn {
  Slot x = 0;
  std::size_t heads = 1;
  std::size_t table = 0;  // of Plan::turns
};

// y = x as a product takes it
struct Convert {
  Slot x = 0;
  Slot y = 0;
};

// y = x · weight + bias
struct Multiply {
  Slot x = 0;  // converted, where the product needs that
  Slot y = 0;
  std::size_t matrix = 0;  // of Plan::matrices
  std::vector<float> bias;
};

// y = layer norm of x, which may be y
struct Norm {
  Slot x = 0;
  Slot y = 0;
  std::vector<float> weight;
  std::vector<float> bias;
  float epsilon = 0;
};

// y = RMS norm of x, which may be y, over each so many numbers as there are weights
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
  std::optional<std::size_t> distances{};  // of Plan::distances
  std::size_t window = SIZE_MAX;
  bool causal = false;
};

// x = x / max(√Σx², 1e-12)
struct Normalize {
  Slot x = 0;
};

struct Step {
  std::variant<LookUp, AddTerms, Copy, AddRows, MultiplyRows, Scale, Turn, Convert, Multiply, Norm, RmsNorm, Activate,
               Normalize, Attend>
      what;
  // Where threads share steps: all of them must have done what comes before.
  bool waits = false;

  [[nodiscard]] bool attends() const { return std::holds_alternative<Attend>(what); }
};

// Places of tokens as graph::PositionLookup counts them.
struct CountedPlaces {
  std::size_t ids = 0;  // which of the plan's inputs
  std::uint32_t padding = 0;

  friend bool operator==(const CountedPlaces&, const CountedPlaces&) = default;
};

// Of all attention with heads of this width.
struct TurnTable {
  graph::Rotary rotary;
  std::size_t width = 0;
  graph::Turns turns;
};

// A graph::DistanceBias, or a graph::LinearBias, which has slopes, as AttentionHead has it, of all attention with this
// scale.
struct DistanceTable {
  graph::Weight weight;
  std::vector<float> slopes;
  std::size_t farthest = 0;
  float scale = 0;
  std::vector<float> numbers;  // head by head

  [[nodiscard]] const float* of_head(std::size_t head) const { return numbers.data() + head * (2 * farthest + 1); }
};

// Where the slots lie, in numbers.
struct Layout {
  struct Place {
    std::size_t stride = 0;  // from row to row
    std::size_t before = 0;  // of the strides of those slots before it that pass, or do not pass, as it does
    // Needed beyond the steps that are done for a few rows after the other: it has a row for each token.
    bool passes = true;
  };
  std::vector<Place> places;  // by slot
  std::size_t passing = 0;    // of all strides of those that pass
  std::size_t staying = 0;    // and of those that do not

  // Of a workspace for so many tokens, of which so many are done at a time.
  [[nodiscard]] std::size_t size(std::size_t tokens, std::size_t at_a_time) const {
    return passing * tokens + staying * at_a_time;
  }
  // Where the slot begins in it.
  [[nodiscard]] std::size_t begin(Slot slot, std::size_t tokens, std::size_t at_a_time) const {
    const Place& place = places[slot];
    return place.passes ? place.before * tokens : passing * tokens + place.before * at_a_time;
  }
};

struct Plan {
  // That of all Multiply and Attend.
  const Product& product;
  // Keeps the tables' file open.
  std::shared_ptr<const graph::Graph> graph;
  // Ids, by LookUp::ids, and how many different ones each input may have: all below this.
  std::vector<graph::Input> inputs;
  std::vector<std::size_t> ids_end;
  std::optional<graph::Input> mask;  // none where nothing needs one

  std::vector<Step> steps;
  // Of the pooled vectors: the first so many rows of a slot are those of the texts. None of them attends.
  std::vector<Step> text_steps;
  std::vector<std::size_t> widths;  // of the slots
  Layout layout;
  PackedMatrices matrices;
  std::vector<TurnTable> turns;
  std::vector<DistanceTable> distances;
  std::size_t positions_max = 0;                // tokens of a text; 0: any number
  std::optional<CountedPlaces> counted_places;  // none: a token's place is its position in the text
  bool by_distance = false;                     // attention knows the distance between two tokens
  bool may_be_unattended = false;               // the last tokens of a text

  struct Pooling {
    graph::PoolingMode mode{};
    Slot x = 0;
    Slot y = 0;
  };
  std::optional<Pooling> pooling;
  Slot result = 0;        // the tokens' vectors or, behind a pooling, the texts'
  std::size_t width = 0;  // of a result

  Plan(const Kernels& kernels, const Product& product_) : product(product_), matrices(kernels, product_) {}
};

// kUnsupported names the operator that `native` does not compute where it stands; the errors of PartReader. Weights are
// not packed yet. `files` are the graph's; `product` is one that the kernels have.
[[nodiscard]] core::Result<Plan> make_plan(std::shared_ptr<const graph::Graph> graph, const WeightFiles& files,
                                           const Kernels& kernels, const Product& product);

}  // namespace latebind::native
