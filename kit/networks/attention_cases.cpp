#include "kit/networks/attention_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace latebind::kit {
namespace {

using core::Result;
using graph::Value;

// Heads, and what they see.
graph::Attention draw_attention(CaseBuilder& made, std::int64_t width) {
  graph::Attention op{};
  op.key_heads = made.up_to(3);
  op.heads = op.key_heads * (made.one_in(2) ? 1 : made.up_to(3));
  op.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  if (made.one_in(4)) op.window = made.up_to(made.tokens()) - 1;
  op.causal = made.one_in(4);
  op.may_be_unattended = made.one_in(5);
  made.say(fmt::format(", {} heads to {}{}{}{}", op.heads, op.key_heads,
                       op.window ? fmt::format(", window {}", *op.window) : "", op.causal ? ", causal" : "",
                       op.may_be_unattended ? ", unattended" : ""));
  return op;
}

// Sets query, key, value and mask.
void attend_to_itself(CaseBuilder& made, graph::Attention& op, std::int64_t width) {
  op.query = made.x();
  op.key = made.another("key", op.key_heads * width);
  op.value = made.another("value", op.key_heads * width);
  op.mask = made.mask(op.may_be_unattended);
}

// At most one of the biases of distances.
void draw_bias(CaseBuilder& made, graph::Attention& op) {
  const std::int64_t kind = made.up_to(4);
  if (kind == 1) {
    const std::int64_t buckets = 4 * made.up_to(8);
    op.distance_bias = graph::DistanceBias{.table = made.weight("distances", {buckets, op.heads}),
                                           .farthest = buckets / 4 + made.up_to(40)};
    made.say(fmt::format(", farthest {}", op.distance_bias->farthest));
  }
  if (kind == 2) {
    op.linear_bias = graph::LinearBias{{}, made.tokens() + made.up_to(3) - 1};
    for (std::int64_t i = 0; i < op.heads; ++i)
      op.linear_bias->slopes.push_back(static_cast<float>(std::ldexp(1.0, static_cast<int>(-made.up_to(8)))));
    made.say(", slopes");
  }
}

}  // namespace

Result<GraphCase> attention_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const bool has_rotary = made.one_in(3);
  const std::int64_t width = made.up_to(20) * (has_rotary ? 2 : 1);
  graph::Attention op = draw_attention(made, width);
  made.plan_x(op.heads * width);
  draw_bias(made, op);
  if (has_rotary) {
    op.rotary = graph::Rotary{graph::rotary_frequencies(10000, width), made.tokens() + made.up_to(3) - 1,
                              made.one_in(3) ? 1.25F : 1.0F};
    made.say(fmt::format(", rotary at {}", op.rotary->positions));
  }
  if (made.one_in(4)) {
    op.soft_cap = 0.25F * static_cast<float>(made.up_to(20));
    made.say(fmt::format(", soft cap {}", *op.soft_cap));
  }
  made.begin();
  attend_to_itself(made, op, width);
  return std::move(made).finish(made.add(op));
}

Result<GraphCase> whole_table_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t width = made.up_to(20);
  graph::Attention op = draw_attention(made, width);
  op.key_heads = op.heads;
  // With three products in a score, no score may come near the value that hides masked tokens in some formats.
  op.scale /= 4;
  const std::int64_t columns = op.heads * width;
  graph::Disentangled terms{.span = 4 * made.up_to(6)};
  if (made.one_in(2)) terms.farthest = terms.span / 2 + 1 + made.up_to(20);
  made.plan_x(columns);
  const graph::Weight table = made.weight("places", {2 * terms.span, columns});
  const auto keys = made.maybe_weight("keys", {columns, columns});
  const bool has_both = made.one_in(2);
  made.say(fmt::format(", span {} up to {}", terms.span, terms.farthest.value_or(0)));
  made.begin();
  attend_to_itself(made, op, width);
  const Value places = made.add(graph::WholeTable{table});
  terms.keys = keys ? made.add(graph::Linear{.x = places, .weight = *keys}) : places;
  if (has_both) terms.queries = places;
  op.disentangled = terms;
  return std::move(made).finish(made.add(op));
}

}  // namespace latebind::kit
