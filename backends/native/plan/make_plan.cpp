#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/native/plan/layout.h"
#include "backends/native/plan/plan.h"
#include "backends/native/plan/planner.h"
#include "backends/native/plan/waits.h"

namespace latebind::native {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::Cases;
using graph::Graph;
using graph::Node;
using graph::Value;

Status Planner::unsupported(std::string what) {
  return Status(StatusCode::kUnsupported, "native does not compute " + std::move(what));
}

void Planner::count_uses() {
  const auto use = [this](std::initializer_list<Value> values) {
    for (const Value value : values)
      ++uses_[value.node];
  };
  for (const Node& node : graph_.nodes()) {
    std::visit(
        Cases{[](const graph::Input&) {}, [](const graph::RowLookup&) {}, [](const graph::WholeTable&) {},
              [&](const graph::Lookup& op) { use({op.ids}); }, [&](const graph::PositionLookup& op) { use({op.ids}); },
              [&](const graph::Add& op) {
                use({op.a, op.b});
              },
              [&](const graph::Multiply& op) {
                use({op.a, op.b});
              },
              [&](const graph::Scale& op) { use({op.x}); }, [&](const graph::Columns& op) { use({op.x}); },
              [&](const graph::Linear& op) { use({op.x}); },
              [&](const graph::Convolution& op) {
                use({op.x, op.mask});
              },
              [&](const graph::Attention& op) {
                use({op.query, op.key, op.value, op.mask});
                if (op.disentangled && op.disentangled->keys) use({*op.disentangled->keys});
                if (op.disentangled && op.disentangled->queries) use({*op.disentangled->queries});
              },
              [&](const graph::ShortConvolution& op) {
                use({op.x, op.mask});
              },
              [&](const graph::Experts& op) {
                use({op.x, op.router});
              },
              [&](const graph::LayerNorm& op) { use({op.x}); }, [&](const graph::RmsNorm& op) { use({op.x}); },
              [&](const graph::Activation& op) { use({op.x}); },
              [&](const graph::Pool& op) {
                use({op.x, op.mask});
              },
              [&](const graph::Normalize& op) { use({op.x}); }},
        node.op);
  }
  // The value of an output keeps its slot until the end.
  for (const graph::GraphOutput& output : graph_.outputs())
    ++uses_[output.value.node];
}

Result<Slot> Planner::slot_of(std::string_view who, Value value) const {
  const auto* const in = std::get_if<InSlot>(&forms_[value.node]);
  if (in != nullptr && in->by_text == plan_.pooling.has_value()) return in->slot;
  return unsupported(fmt::format("{} of {}, which is not a row for each {}", who, graph_.node(value).shape.to_string(),
                                 plan_.pooling ? "text" : "token"));
}

Slot Planner::take_slot(std::size_t width) {
  const auto found = std::ranges::find(free_, width, [this](Slot slot) { return plan_.widths[slot]; });
  if (found == free_.end()) {
    plan_.widths.push_back(width);
    return plan_.widths.size() - 1;
  }
  const Slot slot = *found;
  free_.erase(found);
  return slot;
}

Slot Planner::converted(Value value, Slot slot) {
  if (plan_.product.convert == nullptr) return slot;
  std::optional<Slot>& made = converted_[value.node];
  if (!made) {
    made = take_slot(plan_.product.operand_words(plan_.widths[slot]));
    add(Convert{.x = slot, .y = *made});
  }
  return *made;
}

bool Planner::end_use(Value value) {
  if (--uses_[value.node] != 0) return false;
  if (converted_[value.node]) free_.push_back(*converted_[value.node]);
  return true;
}

void Planner::release(Value value) {
  const auto* const in = std::get_if<InSlot>(&forms_[value.node]);
  if (end_use(value) && in != nullptr) free_.push_back(in->slot);
}

Slot Planner::own_slot(Value value, Slot slot) {
  if (end_use(value)) return slot;
  const Slot copy = take_slot(plan_.widths[slot]);
  add(Copy{.x = slot, .y = copy});
  return copy;
}

Result<Plan> Planner::make() {
  count_uses();
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    LB_RETURN_IF_ERROR(std::visit([&](const auto& op) { return plan(i, op); }, node.op));
    // The slot of an unused value might be given to another value.
    if (uses_[i] == 0 && !std::holds_alternative<graph::Input>(node.op)) return unsupported("a value that is not used");
  }
  if (plan_.inputs.empty()) return unsupported("a network without a lookup");
  for (const graph::GraphOutput& output : graph_.outputs()) {
    const core::Shape& shape = graph_.node(output.value).shape;
    const auto* const in = std::get_if<InSlot>(&forms_[output.value.node]);
    if (in == nullptr) return unsupported(fmt::format("an output of {}, which is no row", shape.to_string()));
    plan_.results.push_back(
        {.slot = in->slot, .by_text = in->by_text, .width = static_cast<std::size_t>(shape[shape.rank() - 1])});
  }
  set_layout(plan_);
  set_waits(plan_);
  return std::move(plan_);
}

Result<Plan> make_plan(std::shared_ptr<const Graph> graph, const WeightFiles& files, const Kernels& kernels,
                       const Product& product) {
  return Planner(std::move(graph), files, kernels, product).make();
}

}  // namespace latebind::native
