// The part of Planner that turns each operator into steps.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/native/plan/planner.h"

namespace latebind::native {

using core::Result;
using core::Status;
using graph::Value;

namespace {

// The numbers of a DistanceTable.
Result<std::vector<float>> expanded(const WeightFiles& files, const graph::DistanceBias& bias, float scale) {
  LB_ASSIGN_OR_RETURN(const std::vector<float> table, files.numbers(bias.table));
  std::vector<std::size_t> buckets;
  for (std::int64_t distance = -bias.farthest; distance <= bias.farthest; ++distance)
    buckets.push_back(static_cast<std::size_t>(bucket_of(bias, distance)));
  const auto heads = static_cast<std::size_t>(bias.table.shape[1]);
  std::vector<float> numbers;
  for (std::size_t head = 0; head < heads; ++head) {
    for (const std::size_t bucket : buckets)
      numbers.push_back(table[bucket * heads + head] / scale);
  }
  return numbers;
}

// The same for a linear bias, up to the farthest distance that occurs.
std::vector<float> expanded(const graph::LinearBias& bias, float scale) {
  std::vector<float> numbers;
  for (const float slope : bias.slopes) {
    for (std::int64_t distance = 1 - bias.positions; distance < bias.positions; ++distance)
      numbers.push_back(-slope * static_cast<float>(std::abs(distance)) / scale);
  }
  return numbers;
}

// The index of the first matching entry of the list, which is added if it is missing.
template <class T, class Fits, class Make>
std::size_t place_of(std::vector<T>& list, Fits fits, Make make) {
  const auto found = std::ranges::find_if(list, fits);
  const auto place = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.push_back(make());
  return place;
}

}  // namespace

Slot Planner::rotated(Value value, Slot slot, const graph::Rotary& rotary, std::size_t heads) {
  const std::size_t width = plan_.widths[slot] / heads;
  const std::size_t table = place_of(
      plan_.ropes, [&](const RopeTable& one) { return one.rotary == rotary; },
      [&] {
        return RopeTable{rotary, width, turns_of(rotary)};
      });
  const Slot x = own_slot(value, slot);
  add(Rope{.x = x, .heads = heads, .table = table});
  return x;
}

Result<std::size_t> Planner::distances_of(const graph::DistanceBias& bias, float scale) {
  const auto farthest = static_cast<std::size_t>(bias.farthest);
  const auto known = std::ranges::find_if(plan_.distances, [&](const DistanceTable& one) {
    return one.slopes.empty() && graph::is_same(one.weight, bias.table) && one.farthest == farthest &&
           one.scale == scale;
  });
  if (known != plan_.distances.end()) return static_cast<std::size_t>(known - plan_.distances.begin());
  LB_ASSIGN_OR_RETURN(auto numbers, expanded(files_, bias, scale));
  plan_.distances.push_back({bias.table, {}, farthest, scale, std::move(numbers)});
  return plan_.distances.size() - 1;
}

std::size_t Planner::distances_of(const graph::LinearBias& bias, float scale) {
  const auto farthest = static_cast<std::size_t>(bias.positions - 1);
  return place_of(
      plan_.distances,
      [&](const DistanceTable& one) {
        return one.slopes == bias.slopes && one.farthest == farthest && one.scale == scale;
      },
      [&] {
        return DistanceTable{{}, bias.slopes, farthest, scale, expanded(bias, scale)};
      });
}

Result<std::size_t> Planner::input_of(Value value) {
  const auto* const input = std::get_if<graph::Input>(&graph_.node(value).op);
  if (input == nullptr) return unsupported("a lookup by anything but an input");
  const auto [found, is_new] = inputs_.emplace(value.node, plan_.inputs.size());
  if (is_new) {
    plan_.inputs.push_back(*input);
    plan_.ids_end.push_back(std::numeric_limits<std::uint32_t>::max());
  }
  return found->second;
}

Status Planner::set_mask(Value value) {
  const auto* const input = std::get_if<graph::Input>(&graph_.node(value).op);
  if (input == nullptr || (mask_ && *mask_ != value.node)) return unsupported("masks other than one input");
  mask_ = value.node;
  plan_.mask = *input;
  return {};
}

Status Planner::plan(std::uint32_t /*node*/, const graph::Input& op) {
  if (op.type == core::ElementType::kI64 && op.shape.rank() == 2) return {};
  return unsupported(fmt::format("an input {} of {} {}", op.name, core::name_of(op.type), op.shape.to_string()));
}

Status Planner::plan(std::uint32_t node, const graph::Lookup& op) {
  LB_ASSIGN_OR_RETURN(const std::size_t ids, input_of(op.ids));
  LB_ASSIGN_OR_RETURN(const Table table, Table::make(files_, op.table));
  plan_.ids_end[ids] = std::min(plan_.ids_end[ids], table.rows());
  const Slot y = take_slot(table.width());
  add(LookUp{.table = table, .ids = ids, .y = y});
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::PositionLookup& op) {
  LB_ASSIGN_OR_RETURN(const std::size_t ids, input_of(op.ids));
  LB_ASSIGN_OR_RETURN(const Table table, Table::make(files_, op.table));
  std::optional<CountedPlaces> counted;
  std::size_t most = table.rows();
  if (op.padding) {
    counted = CountedPlaces{.ids = ids, .padding = static_cast<std::uint32_t>(*op.padding)};
    most -= static_cast<std::size_t>(*op.padding) + 1;
  }
  if (has_positions_ && plan_.counted_places != counted) return unsupported("places of several kinds");
  has_positions_ = true;
  plan_.counted_places = counted;
  limit_positions(most);
  forms_[node] = Terms{.by_position = {table}, .constant = {}};
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::RowLookup& op) {
  LB_ASSIGN_OR_RETURN(const Table table, Table::make(files_, op.table));
  std::vector<float> row(table.width());
  if (!table.copy_row(static_cast<std::size_t>(op.row), row.data())) return table.why_not();
  forms_[node] = Terms{.by_position = {}, .constant = std::move(row)};
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Add& op) {
  const auto* const more = std::get_if<Terms>(&forms_[op.b.node]);
  if (const auto* const terms = std::get_if<Terms>(&forms_[op.a.node])) {
    if (more == nullptr) return unsupported("adding a row for each token to the same for all");
    Terms sum = *terms;
    sum.by_position.insert(sum.by_position.end(), more->by_position.begin(), more->by_position.end());
    if (sum.constant.empty()) sum.constant.resize(more->constant.size());
    for (std::size_t i = 0; i < more->constant.size(); ++i)
      sum.constant[i] += more->constant[i];
    forms_[node] = std::move(sum);
    return {};
  }
  LB_ASSIGN_OR_RETURN(const Slot a, slot_of("add", op.a));
  if (more != nullptr) {
    const Slot x = own_slot(op.a, a);
    add(AddTerms{.x = x, .by_position = more->by_position, .constant = more->constant});
    put(node, x);
    return {};
  }
  LB_ASSIGN_OR_RETURN(const Slot b, slot_of("add", op.b));
  put(node, combined<AddRows>(op.a, a, op.b, b));
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Multiply& op) {
  LB_ASSIGN_OR_RETURN(const Slot a, slot_of("multiply", op.a));
  LB_ASSIGN_OR_RETURN(const Slot b, slot_of("multiply", op.b));
  put(node, combined<MultiplyRows>(op.a, a, op.b, b));
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Scale& op) {
  return in_place("scaling", node, op.x, Scale{.factor = op.factor});
}

Status Planner::plan(std::uint32_t node, const graph::Columns& op) {
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("columns", op.x));
  const auto width = static_cast<std::size_t>(op.width);
  const auto count = static_cast<std::size_t>(op.count);
  const Slot y = take_slot(plan_.widths[x] / width * count);
  add(TakeColumns{.x = x, .y = y, .width = width, .first = static_cast<std::size_t>(op.first), .count = count});
  release(op.x);
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Convolution& op) {
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("convolution", op.x));
  LB_RETURN_IF_ERROR(set_mask(op.mask));
  plan_.by_distance = true;
  // The convolution is a matrix product with the numbers of each token's neighbourhood, in the order of the weight.
  graph::Weight matrix = op.weight;
  const std::int64_t columns = op.weight.shape[1] * op.weight.shape[2];
  matrix.shape = core::Shape{op.weight.shape[0], columns};
  const auto width = static_cast<std::size_t>(columns);
  const Slot near = take_slot(width);
  add(Neighbours{.x = x, .y = near, .count = static_cast<std::size_t>(op.weight.shape[2])});
  release(op.x);
  Slot operand = near;
  if (plan_.product.convert != nullptr) {
    operand = take_slot(plan_.product.operand_words(width));
    add(Convert{.x = near, .y = operand});
    free_.push_back(near);
  }
  const Slot y = take_slot(static_cast<std::size_t>(op.weight.shape[0]));
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, op.weight));
  add(Multiply{.x = operand, .y = y, .matrix = plan_.matrices.add(matrix, files_), .bias = std::move(bias)});
  free_.push_back(operand);
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Linear& op) {
  if (const auto* const rows = std::get_if<std::shared_ptr<const FixedRows>>(&forms_[op.x.node])) {
    end_use(op.x);
    return plan_fixed(node, *rows, op);
  }
  LB_ASSIGN_OR_RETURN(const Slot from, slot_of("linear", op.x));
  const Slot x = converted(op.x, from);
  const Slot y = take_slot(static_cast<std::size_t>(op.weight.shape[0]));
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, op.weight));
  add(Multiply{.x = x, .y = y, .matrix = plan_.matrices.add(op.weight, files_), .bias = std::move(bias)});
  release(op.x);
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Attention& op) {
  LB_ASSIGN_OR_RETURN(Slot query, slot_of("attention", op.query));
  LB_ASSIGN_OR_RETURN(Slot key, slot_of("attention", op.key));
  LB_ASSIGN_OR_RETURN(const Slot value, slot_of("attention", op.value));
  LB_RETURN_IF_ERROR(set_mask(op.mask));
  const bool has_bias = op.distance_bias || op.linear_bias;
  if (has_bias && op.scale == 0) return unsupported("attention by distance alone");
  if (has_bias || op.disentangled || op.window || op.causal) plan_.by_distance = true;
  if (op.may_be_unattended) plan_.may_be_unattended = true;
  std::optional<std::size_t> distances;
  if (op.distance_bias) {
    LB_ASSIGN_OR_RETURN(distances, distances_of(*op.distance_bias, op.scale));
  }
  if (op.linear_bias) {
    limit_positions(static_cast<std::size_t>(op.linear_bias->positions));
    distances = distances_of(*op.linear_bias, op.scale);
  }
  const auto heads = static_cast<std::size_t>(op.heads);
  const auto key_heads = static_cast<std::size_t>(op.key_heads);
  std::optional<std::size_t> places;
  if (op.disentangled) {
    LB_ASSIGN_OR_RETURN(places, places_of(*op.disentangled, heads, plan_.widths[query] / heads));
  }
  if (op.rotary) {
    limit_positions(static_cast<std::size_t>(op.rotary->positions));
    query = rotated(op.query, query, *op.rotary, heads);
    key = rotated(op.key, key, *op.rotary, key_heads);
  }
  const Slot y = take_slot(plan_.widths[query]);
  add(Attend{.query = query,
             .key = key,
             .value = value,
             .y = y,
             .heads = heads,
             .key_heads = key_heads,
             .scale = op.scale,
             .soft_cap = op.soft_cap.value_or(0),
             .distances = distances,
             .places = places,
             .window = op.window ? static_cast<std::size_t>(*op.window) : SIZE_MAX,
             .causal = op.causal});
  if (op.rotary) {
    free_.insert(free_.end(), {query, key});
  } else {
    release(op.query);
    release(op.key);
  }
  release(op.value);
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::ShortConvolution& op) {
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("short convolution", op.x));
  LB_RETURN_IF_ERROR(set_mask(op.mask));
  if (plan_.pooling) return unsupported("short convolution of pooled vectors");
  LB_ASSIGN_OR_RETURN(const std::vector<float> numbers, files_.numbers(op.weight));
  const auto count = static_cast<std::size_t>(op.weight.shape[1]);
  const std::size_t columns = plan_.widths[x];
  std::vector<float> weight(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    weight[(count - 1 - i % count) * columns + i / count] = numbers[i];
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, columns));
  const Slot y = take_slot(columns);
  add(Convolve{.x = x, .y = y, .weight = std::move(weight), .bias = std::move(bias)});
  release(op.x);
  put(node, y);
  return {};
}

Result<std::vector<std::size_t>> Planner::matrices_of(const graph::Weight& all, std::size_t experts,
                                                      bool is_transposed) {
  graph::Weight one = all;
  one.shape = {all.shape[0] / static_cast<std::int64_t>(experts), all.shape[1]};
  LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(one.type, one.shape));
  std::vector<std::size_t> matrices;
  for (std::size_t i = 0; i < experts; ++i, one.offset += size)
    matrices.push_back(plan_.matrices.add(one, files_, is_transposed));
  return matrices;
}

Status Planner::plan(std::uint32_t node, const graph::Experts& op) {
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("experts", op.x));
  LB_ASSIGN_OR_RETURN(const Slot router, slot_of("experts", op.router));
  if (plan_.pooling) return unsupported("experts for pooled vectors");
  const std::size_t columns = plan_.widths[x];
  const std::size_t experts = plan_.widths[router];
  const auto chosen = static_cast<std::size_t>(op.chosen);
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, columns));
  LB_ASSIGN_OR_RETURN(auto wide_matrices, matrices_of(op.wide, experts, /*is_transposed=*/false));
  LB_ASSIGN_OR_RETURN(auto narrow_matrices, matrices_of(op.narrow, experts, /*is_transposed=*/true));
  const Slot shares = own_slot(op.router, router);
  add(Choose{.x = shares, .chosen = chosen});
  const Slot wide = take_slot(chosen * static_cast<std::size_t>(op.wide.shape[0]) / experts);
  add(Widen{{x, shares, wide, std::move(wide_matrices)}, op.function});
  release(op.x);
  const Slot y = take_slot(columns);
  add(Narrow{{wide, shares, y, std::move(narrow_matrices)}, std::move(bias)});
  free_.insert(free_.end(), {shares, wide});
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::LayerNorm& op) {
  if (const auto* const rows = std::get_if<std::shared_ptr<const FixedRows>>(&forms_[op.x.node])) {
    end_use(op.x);
    return plan_fixed(node, **rows, op);
  }
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("layer norm", op.x));
  const Slot y = end_use(op.x) ? x : take_slot(plan_.widths[x]);
  LB_ASSIGN_OR_RETURN(std::vector<float> weight, files_.numbers(op.weight));
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, op.weight));
  add(Norm{
      .x = x, .y = y, .weight = std::move(weight), .bias = std::move(bias), .epsilon = static_cast<float>(op.epsilon)});
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::RmsNorm& op) {
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("RMS norm", op.x));
  const Slot y = end_use(op.x) ? x : take_slot(plan_.widths[x]);
  LB_ASSIGN_OR_RETURN(std::vector<float> weight, files_.numbers(op.weight));
  for (float& number : weight)
    number += op.offset;
  add(RmsNorm{.x = x, .y = y, .weight = std::move(weight), .epsilon = static_cast<float>(op.epsilon)});
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Activation& op) {
  return in_place("activation", node, op.x, Activate{.function = op.function});
}

Status Planner::plan(std::uint32_t node, const graph::Pool& op) {
  if (plan_.pooling) return unsupported("several poolings");
  LB_ASSIGN_OR_RETURN(const Slot x, slot_of("pooling", op.x));
  LB_RETURN_IF_ERROR(set_mask(op.mask));
  const Slot y = take_slot(plan_.widths[x]);
  // The slot of op.x is not reused: one thread may pool from it while another already has the vectors of its texts.
  end_use(op.x);
  plan_.pooling = {.mode = op.mode, .x = x, .y = y};
  put(node, y);
  return {};
}

Status Planner::plan(std::uint32_t node, const graph::Normalize& op) {
  return in_place("normalisation", node, op.x, Normalize());
}

}  // namespace latebind::native
