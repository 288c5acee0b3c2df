// Planner: makes a plan of a graph, node by node, in the order of computation.
//
// Internal to make_plan(). Each value gets a slot when its node is planned; the last use of a value frees its slot. One
// thread, one plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/native/plan/plan.h"
#include "core/result.h"

namespace latebind::native {

class Planner {
 public:
  Planner(std::shared_ptr<const graph::Graph> graph, const WeightFiles& files, const Kernels& kernels,
          const Product& product)
      : plan_(kernels, product),
        graph_(*graph),
        files_(files),
        forms_(graph->nodes().size()),
        converted_(graph->nodes().size()),
        uses_(graph->nodes().size()) {
    plan_.graph = std::move(graph);
  }

  core::Result<Plan> make();

 private:
  // The forms that a node's value can have while the plan is made.
  struct Unset {};  // an input, or not computed yet
  struct InSlot {
    Slot slot = 0;
    bool by_text = false;
  };
  // The same for all texts instead of a row for each token: terms that are added to each token's row.
  struct Terms {
    std::vector<Table> by_position;
    std::vector<float> constant;
  };
  using Form = std::variant<Unset, InSlot, Terms, std::shared_ptr<const FixedRows>, FixedProduct>;

  // The error for what `native` does not compute.
  static core::Status unsupported(std::string what);
  void count_uses();
  core::Result<Slot> slot_of(std::string_view who, graph::Value value) const;
  Slot take_slot(std::size_t width);
  // The value as an operand of a product, converted on first use.
  Slot converted(graph::Value value, Slot slot);
  // Counts one use of the value. Returns whether it was the last one, which also ends the life of the converted form.
  bool end_use(graph::Value value);
  // Called after a node has used the value; the last use frees the slot.
  void release(graph::Value value);
  // A slot that holds the value and may be overwritten: its own slot if this was the last use, otherwise a copy.
  Slot own_slot(graph::Value value, Slot slot);
  // Plans a step that changes rows in place.
  template <class AStep>
  core::Status in_place(std::string_view who, std::uint32_t node, graph::Value value, AStep step) {
    LB_ASSIGN_OR_RETURN(const Slot slot, slot_of(who, value));
    step.x = own_slot(value, slot);
    add(step);
    put(node, step.x);
    return {};
  }
  // Plans a commutative step on two values, and returns the slot of its result.
  template <class AStep>
  Slot combined(graph::Value value_a, Slot a, graph::Value value_b, Slot b) {
    // The result goes into the operand with no further use, if there is one.
    const bool into_b = uses_[value_a.node] > 1 && uses_[value_b.node] == 1;
    const Slot x = own_slot(into_b ? value_b : value_a, into_b ? b : a);
    add(AStep{.x = x, .y = into_b ? a : b});
    release(into_b ? value_a : value_b);
    return x;
  }
  // A slot with the rotated queries or keys, which may be overwritten.
  Slot rotated(graph::Value value, Slot slot, const graph::Rotary& rotary, std::size_t heads);
  // The index in Plan::distances.
  core::Result<std::size_t> distances_of(const graph::DistanceBias& bias, float scale);
  std::size_t distances_of(const graph::LinearBias& bias, float scale);
  // Returns the matrices of the experts, which `all` has one after the other.
  core::Result<std::vector<std::size_t>> matrices_of(const graph::Weight& all, std::size_t experts, bool is_transposed);
  // Returns the index in Plan::places.
  core::Result<std::size_t> places_of(const graph::Disentangled& terms, std::size_t heads, std::size_t width);
  // Plan an operator on rows that depend on weights alone.
  core::Status plan_fixed(std::uint32_t node, const FixedRows& rows, const graph::LayerNorm& op);
  core::Status plan_fixed(std::uint32_t node, std::shared_ptr<const FixedRows> rows, const graph::Linear& op);
  core::Result<std::size_t> input_of(graph::Value value);
  core::Status set_mask(graph::Value value);
  // Limits the number of tokens of a text.
  void limit_positions(std::size_t most) {
    plan_.positions_max = plan_.positions_max == 0 ? most : std::min(plan_.positions_max, most);
  }
  // The bias, or as many zeros as the weight has rows.
  [[nodiscard]] core::Result<std::vector<float>> bias_of(const std::optional<graph::Weight>& bias,
                                                         const graph::Weight& weight) const {
    return bias_of(bias, static_cast<std::size_t>(weight.shape[0]));
  }
  [[nodiscard]] core::Result<std::vector<float>> bias_of(const std::optional<graph::Weight>& bias,
                                                         std::size_t columns) const {
    if (bias) return files_.numbers(*bias);
    return std::vector<float>(columns);
  }
  void add(decltype(Step::what) what) {
    (plan_.pooling ? plan_.text_steps : plan_.steps).push_back({.what = std::move(what)});
  }
  void put(std::uint32_t node, Slot slot) { forms_[node] = InSlot{slot, plan_.pooling.has_value()}; }

  static core::Status plan(std::uint32_t node, const graph::Input& op);
  core::Status plan(std::uint32_t node, const graph::Lookup& op);
  core::Status plan(std::uint32_t node, const graph::PositionLookup& op);
  core::Status plan(std::uint32_t node, const graph::RowLookup& op);
  core::Status plan(std::uint32_t node, const graph::WholeTable& op);
  core::Status plan(std::uint32_t node, const graph::Add& op);
  core::Status plan(std::uint32_t node, const graph::Multiply& op);
  core::Status plan(std::uint32_t node, const graph::Scale& op);
  core::Status plan(std::uint32_t node, const graph::Columns& op);
  core::Status plan(std::uint32_t node, const graph::Linear& op);
  core::Status plan(std::uint32_t node, const graph::Convolution& op);
  core::Status plan(std::uint32_t node, const graph::Attention& op);
  core::Status plan(std::uint32_t node, const graph::ShortConvolution& op);
  core::Status plan(std::uint32_t node, const graph::Experts& op);
  core::Status plan(std::uint32_t node, const graph::LayerNorm& op);
  core::Status plan(std::uint32_t node, const graph::RmsNorm& op);
  core::Status plan(std::uint32_t node, const graph::Activation& op);
  core::Status plan(std::uint32_t node, const graph::Pool& op);
  core::Status plan(std::uint32_t node, const graph::Normalize& op);

  Plan plan_;
  const graph::Graph& graph_;
  const WeightFiles& files_;
  std::vector<Form> forms_;
  std::vector<std::optional<Slot>> converted_;  // until the value's last use
  std::vector<std::size_t> uses_;               // uses that are still to come
  std::vector<Slot> free_;
  std::map<std::uint32_t, std::size_t> inputs_;
  std::optional<std::uint32_t> mask_;
  bool has_positions_ = false;  // whether there is a lookup by position
};

}  // namespace latebind::native
