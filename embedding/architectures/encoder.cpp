#include "embedding/architectures/encoder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace latebind::embedding {

using core::Result;
using core::Shape;
using core::Status;
using graph::Value;
using graph::Weight;

EncoderBuilder::EncoderBuilder(const EncoderSizes& sizes, const ModelWeights& weights, const NetworkUse& use,
                               std::string_view prefix, std::string words)
    : sizes_(sizes), weights_(weights), use_(use), graph_(weights.parts()), words_(std::move(words)) {
  if (sizes_.key_heads == 0) sizes_.key_heads = sizes_.heads;
  if (sizes_.head_width == 0) sizes_.head_width = sizes_.hidden / sizes_.heads;  // exact, as checked before
  if (!weights_.contains(words_) && weights_.contains(std::string(prefix) + words_)) prefix_ = prefix;
}

std::pair<Value, Value> EncoderBuilder::inputs() {
  const Shape tokens{core::kDynamic, core::kDynamic};
  const Value ids = graph_.add(graph::Input{.name = "input_ids", .type = core::ElementType::kI64, .shape = tokens});
  const Value mask =
      graph_.add(graph::Input{.name = "attention_mask", .type = core::ElementType::kI64, .shape = tokens});
  return {ids, mask};
}

Result<Weight> EncoderBuilder::weight(const std::string& name, std::initializer_list<std::size_t> dims) {
  std::vector<std::int64_t> wanted;
  for (const std::size_t dim : dims)
    wanted.push_back(static_cast<std::int64_t>(dim));
  return weights_.find(prefix_ + name, wanted);
}

Result<Value> EncoderBuilder::norm(Value x, std::size_t width, const std::string& name) {
  return norm_of(x, width, name, sizes_.norm, sizes_.epsilon);
}

Result<Value> EncoderBuilder::norm_of(Value x, std::size_t width, const std::string& name, NormKind kind,
                                      float epsilon) {
  if (kind == NormKind::kRms || kind == NormKind::kRmsPlusOne) {
    LB_ASSIGN_OR_RETURN(auto scale, weight(name + ".weight", {width}));
    return graph_.add(graph::RmsNorm{
        .x = x, .weight = std::move(scale), .offset = kind == NormKind::kRmsPlusOne ? 1.0F : 0.0F, .epsilon = epsilon});
  }
  // The reference knows the old names of norms that are called LayerNorm alone, and would replace the others by ones.
  const bool old_names = name.ends_with("LayerNorm") && weights_.contains(prefix_ + name + ".gamma");
  LB_ASSIGN_OR_RETURN(auto scale, weight(name + (old_names ? ".gamma" : ".weight"), {width}));
  graph::LayerNorm norm{.x = x, .weight = std::move(scale), .epsilon = epsilon};
  if (kind == NormKind::kLayer) {
    LB_ASSIGN_OR_RETURN(norm.bias, weight(name + (old_names ? ".beta" : ".bias"), {width}));
  }
  return graph_.add(std::move(norm));
}

Result<Value> EncoderBuilder::linear(Value x, const std::string& name, std::size_t in, std::size_t out, bool has_bias) {
  return linear_of(x, name, in, out, 0, 1, has_bias);
}

namespace {

// Returns one of `of` matrices of the same shape that are stacked in `whole`; each has contiguous rows.
Result<Weight> part_of(Weight whole, std::size_t which, std::size_t of) {
  if (of == 1) return whole;
  Shape shape = whole.shape;
  shape[0] /= static_cast<std::int64_t>(of);
  LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(whole.type, shape));
  whole.name += fmt::format("[{}/{}]", which, of);
  whole.offset += which * size;
  whole.shape = shape;
  return whole;
}

}  // namespace

Result<Value> EncoderBuilder::linear_of(Value x, const std::string& name, std::size_t in, std::size_t out,
                                        std::size_t which, std::size_t of, bool has_bias) {
  LB_ASSIGN_OR_RETURN(auto matrix, weight(name + ".weight", {of * out, in}));
  LB_ASSIGN_OR_RETURN(matrix, part_of(std::move(matrix), which, of));
  graph::Linear linear{.x = x, .weight = std::move(matrix)};
  if (has_bias) {
    LB_ASSIGN_OR_RETURN(auto bias, weight(name + ".bias", {of * out}));
    LB_ASSIGN_OR_RETURN(linear.bias, part_of(std::move(bias), which, of));
  }
  return add_task(graph_.add(std::move(linear)), x, name, which, of);
}

Value EncoderBuilder::task_ids() {
  if (!task_ids_) {
    task_ids_ = graph_.add(
        graph::Input{.name = "task_ids", .type = core::ElementType::kI64, .shape = {core::kDynamic, core::kDynamic}});
  }
  return *task_ids_;
}

Result<Weight> EncoderBuilder::made(const std::string& name, std::size_t rows, std::size_t columns) const {
  return weights_.find(name, std::array{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
}

Result<Value> EncoderBuilder::scaled(Value low, const TaskChange& change) {
  const auto [known, is_new] = scales_.try_emplace(change.scales);
  if (is_new) {
    LB_ASSIGN_OR_RETURN(auto table, made(change.scales, weights_.tasks() + 1, change.columns));
    known->second = graph_.add(graph::Lookup{.table = std::move(table), .ids = task_ids()});
  }
  return graph_.add(graph::Multiply{.a = low, .b = known->second});
}

Result<Value> EncoderBuilder::add_task(Value y, Value x, const std::string& name, std::size_t which, std::size_t of) {
  const std::string whole = prefix_ + name + ".weight";
  const TaskChange* const change = weights_.change_of(whole);
  if (change == nullptr) return y;
  const auto shape = *weights_.shape_of(whole);
  const auto [known, is_new] = lowered_.try_emplace({x.node, whole});
  if (is_new) {
    LB_ASSIGN_OR_RETURN(auto down, made(change->down, change->columns, static_cast<std::size_t>(shape[1])));
    LB_ASSIGN_OR_RETURN(known->second, scaled(graph_.add(graph::Linear{.x = x, .weight = std::move(down)}), *change));
  }
  LB_ASSIGN_OR_RETURN(auto up, made(change->up, static_cast<std::size_t>(shape[0]), change->columns));
  LB_ASSIGN_OR_RETURN(up, part_of(std::move(up), which, of));
  return graph_.add(graph::Add{.a = y, .b = graph_.add(graph::Linear{.x = known->second, .weight = std::move(up)})});
}

Result<Value> EncoderBuilder::words(Value ids, std::size_t width) {
  LB_ASSIGN_OR_RETURN(auto table, weight(words_, {sizes_.vocabulary, width}));
  const Value words = graph_.add(graph::Lookup{.table = std::move(table), .ids = ids});
  const TaskChange* const change = weights_.change_of(prefix_ + words_);
  if (change == nullptr) return words;
  LB_ASSIGN_OR_RETURN(auto down, made(change->down, sizes_.vocabulary, change->columns));
  LB_ASSIGN_OR_RETURN(const Value low,
                      scaled(graph_.add(graph::Lookup{.table = std::move(down), .ids = ids}), *change));
  LB_ASSIGN_OR_RETURN(auto up, made(change->up, width, change->columns));
  return graph_.add(graph::Add{.a = words, .b = graph_.add(graph::Linear{.x = low, .weight = std::move(up)})});
}

Result<Value> EncoderBuilder::positions(Value ids, std::size_t width) {
  LB_ASSIGN_OR_RETURN(auto table, weight("embeddings.position_embeddings.weight", {sizes_.positions, width}));
  graph::PositionLookup lookup{.table = std::move(table), .ids = ids};
  if (sizes_.padding) lookup.padding = static_cast<std::int64_t>(*sizes_.padding);
  return graph_.add(std::move(lookup));
}

Result<Value> EncoderBuilder::token_type(std::size_t types, std::size_t width) {
  const std::string name = "embeddings.token_type_embeddings.weight";
  LB_ASSIGN_OR_RETURN(auto table, weight(name, {types, width}));
  if (const TaskChange* const change = weights_.change_of(prefix_ + name)) {
    if (takes_token_types(types, use_) || change->rows.empty()) {
      return Status(core::StatusCode::kUnsupported, "types of tokens with low-rank parts of tasks are not supported");
    }
    LB_ASSIGN_OR_RETURN(auto rows, made(change->rows, weights_.tasks() + 1, width));
    return graph_.add(graph::Lookup{.table = std::move(rows), .ids = task_ids()});
  }
  if (!takes_token_types(types, use_)) return graph_.add(graph::RowLookup{.table = std::move(table), .row = 0});
  const Value given = graph_.add(graph::Input{
      .name = "token_type_ids", .type = core::ElementType::kI64, .shape = {core::kDynamic, core::kDynamic}});
  return graph_.add(graph::Lookup{.table = std::move(table), .ids = given});
}

Result<Value> EncoderBuilder::attention(Value x, Value mask, const std::string& place, const LayerNames& names) {
  const std::size_t hidden = sizes_.hidden;
  const std::size_t width = sizes_.head_width;
  const auto part = [&](std::string_view name, std::size_t which) {
    const std::size_t heads = which == 0 ? sizes_.heads : sizes_.key_heads;
    if (names.query_key_value.empty())
      return linear(x, place + std::string(name), hidden, heads * width, names.query_bias);
    return linear_of(x, place + std::string(names.query_key_value), hidden, hidden, which, 3, names.query_bias);
  };
  LB_ASSIGN_OR_RETURN(Value query, part(names.query, 0));
  LB_ASSIGN_OR_RETURN(Value key, part(names.key, 1));
  LB_ASSIGN_OR_RETURN(const Value value, part(names.value, 2));
  LB_ASSIGN_OR_RETURN(query, norm_if_named(query, width, place, names.query_norm));
  LB_ASSIGN_OR_RETURN(key, norm_if_named(key, width, place, names.key_norm));
  const Value context =
      graph_.add(graph::Attention{.query = query,
                                  .key = key,
                                  .value = value,
                                  .mask = mask,
                                  .heads = static_cast<std::int64_t>(sizes_.heads),
                                  .key_heads = static_cast<std::int64_t>(sizes_.key_heads),
                                  .scale = terms_.scale.value_or(1.0F / std::sqrt(static_cast<float>(width))),
                                  .distance_bias = terms_.distance_bias,
                                  .linear_bias = terms_.linear_bias,
                                  .rotary = terms_.rotary,
                                  .soft_cap = terms_.soft_cap,
                                  .window = terms_.window,
                                  .causal = terms_.causal,
                                  .may_be_unattended = use_.may_be_unattended});
  return linear(context, place + std::string(names.attended), sizes_.heads * width, hidden, names.attended_bias);
}

Result<Value> EncoderBuilder::feed_forward(Value x, const std::string& place, const LayerNames& names) {
  if (!names.experts.empty()) return experts(x, place, names);
  const std::size_t hidden = sizes_.hidden;
  const std::size_t wide = sizes_.intermediate;
  const bool gate_first = !names.gate_and_wide.empty();
  const std::string_view both = gate_first ? names.gate_and_wide : names.wide_and_gate;
  const auto part = [&](std::string_view name, std::size_t which) {
    if (both.empty()) return linear(x, place + std::string(name), hidden, wide, names.wide_bias);
    return linear_of(x, place + std::string(both), hidden, wide, which, 2, names.wide_bias);
  };
  LB_ASSIGN_OR_RETURN(const Value first, part(names.wide, gate_first ? 1 : 0));
  Value active = graph_.add(graph::Activation{.x = first, .function = sizes_.activation});
  if (!both.empty() || !names.gate.empty()) {
    LB_ASSIGN_OR_RETURN(const Value gate, part(names.gate, gate_first ? 0 : 1));
    active = graph_.add(graph::Multiply{.a = active, .b = gate});
  }
  return linear(active, place + std::string(names.narrow), wide, hidden, names.narrow_bias);
}

Result<Value> EncoderBuilder::layer(Value x, Value mask, const std::string& place, const LayerNames& names) {
  const auto norm_of_sum = [&](Value a, Value b, std::string_view name) {
    return norm(graph_.add(graph::Add{.a = a, .b = b}), sizes_.hidden, place + std::string(name));
  };
  LB_ASSIGN_OR_RETURN(const Value attended, attention(x, mask, place, names));
  LB_ASSIGN_OR_RETURN(const Value middle, norm_of_sum(attended, x, names.attended_norm));
  LB_ASSIGN_OR_RETURN(const Value narrow, feed_forward(middle, place, names));
  return norm_of_sum(narrow, middle, names.norm);
}

Result<Value> EncoderBuilder::norm_if_named(Value x, std::size_t width, const std::string& place,
                                            std::string_view name) {
  if (name.empty()) return x;
  return norm(x, width, place + std::string(name));
}

Result<Value> EncoderBuilder::pre_norm_layer(Value x, Value mask, const std::string& place, const LayerNames& names) {
  const auto normal = [&](Value of, std::string_view name) { return norm_if_named(of, sizes_.hidden, place, name); };
  LB_ASSIGN_OR_RETURN(Value part, normal(x, names.attended_norm));
  LB_ASSIGN_OR_RETURN(part, attention(part, mask, place, names));
  LB_ASSIGN_OR_RETURN(part, normal(part, names.attended_end));
  const Value middle = graph_.add(graph::Add{.a = part, .b = x});
  LB_ASSIGN_OR_RETURN(part, normal(middle, names.norm));
  LB_ASSIGN_OR_RETURN(part, feed_forward(part, place, names));
  LB_ASSIGN_OR_RETURN(part, normal(part, names.narrow_end));
  return graph_.add(graph::Add{.a = part, .b = middle});
}

Result<Value> EncoderBuilder::layers(Value x, Value mask, std::string_view place, const LayerNames& names) {
  for (std::size_t i = 0; i < sizes_.layers; ++i) {
    LB_ASSIGN_OR_RETURN(x, layer(x, mask, fmt::format("{}{}.", place, i), names));
  }
  return x;
}

Result<Value> EncoderBuilder::after_pooling(Value x, const DenseModule& dense) {
  if (const std::string bias = dense.place + "linear.bias"; !dense.has_bias && weights_.contains(bias)) {
    return Status(core::StatusCode::kInvalidModel,
                  fmt::format("there is a tensor '{}', but 'bias' is false in the module's config.json", bias));
  }
  LB_ASSIGN_OR_RETURN(Value y, linear(x, dense.place + "linear", dense.in, dense.out, dense.has_bias));
  if (dense.activation) y = graph_.add(graph::Activation{.x = y, .function = *dense.activation});
  if (dense.residual == Residual::kNone) return y;
  if (dense.residual == Residual::kProjected) {
    LB_ASSIGN_OR_RETURN(x, linear(x, dense.place + "residual", dense.in, dense.out, /*has_bias=*/false));
  }
  return graph_.add(graph::Add{.a = y, .b = x});
}

Result<Value> EncoderBuilder::after_pooling(Value x, const LayerNormModule& module) {
  return norm_of(x, module.width, module.place + "norm", NormKind::kLayer, 1e-5F);
}

Result<Value> EncoderBuilder::classify(Value x, Value mask, const ClassifierHead& head) {
  const std::size_t hidden = sizes_.hidden;
  x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = head.pooling});
  for (const HeadLayer& layer : head.layers) {
    LB_ASSIGN_OR_RETURN(x, head_layer(x, layer, hidden));
  }
  prefix_.clear();
  return linear(x, head.last, hidden, head.labels, head.last_bias);
}

Result<Value> EncoderBuilder::head_layer(Value x, const HeadLayer& layer, std::size_t width) {
  if (!layer.in_encoder) prefix_.clear();
  LB_ASSIGN_OR_RETURN(x, linear(x, layer.name, sizes_.hidden, width, layer.has_bias));
  x = graph_.add(graph::Activation{.x = x, .function = layer.activation});
  return norm_if_named(x, width, {}, layer.norm);
}

Result<Value> EncoderBuilder::score_terms(Value x, const VocabularyHead& head) {
  const std::string words = prefix_ + words_;
  const std::size_t width = head.width > 0 ? head.width : sizes_.hidden;
  const std::size_t vocabulary = sizes_.vocabulary;
  LB_ASSIGN_OR_RETURN(x, head_layer(x, head.layer, width));
  const std::string own = head.decoder + ".weight";
  const bool is_words = head.may_be_words && !weights_.contains(own);
  LB_ASSIGN_OR_RETURN(auto matrix, weight(is_words ? words : own, {vocabulary, width}));
  graph::Linear terms{.x = x, .weight = std::move(matrix)};
  if (head.has_bias) {
    const std::string bias = head.decoder + ".bias";
    const bool has_other = !head.other_bias.empty() && !weights_.contains(bias);
    LB_ASSIGN_OR_RETURN(terms.bias, weight(has_other ? head.other_bias : bias, {vocabulary}));
  }
  return graph_.add(std::move(terms));
}

Result<Value> EncoderBuilder::score_tokens(Value x, Value mask, const TokenHead& head) {
  constexpr std::string_view kWeight = ".weight";
  std::string matrix = prefix_ + words_.substr(0, words_.size() - kWeight.size());
  prefix_.clear();
  if (!head.may_be_words || weights_.contains(head.matrix + std::string(kWeight))) matrix = head.matrix;
  x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = graph::PoolingMode::kLastToken});
  const auto number_of = [&](std::uint32_t token) -> Result<Value> {
    LB_ASSIGN_OR_RETURN(Value number, linear_of(x, matrix, sizes_.hidden, 1, token, sizes_.vocabulary, false));
    if (!head.soft_cap) return number;
    number = graph_.add(graph::Scale{.x = number, .factor = 1 / *head.soft_cap});
    number = graph_.add(graph::Activation{.x = number, .function = graph::ActivationFunction::kTanh});
    return graph_.add(graph::Scale{.x = number, .factor = *head.soft_cap});
  };
  LB_ASSIGN_OR_RETURN(const Value score, number_of(head.true_token));
  if (!head.false_token) return score;
  LB_ASSIGN_OR_RETURN(Value other, number_of(*head.false_token));
  other = graph_.add(graph::Scale{.x = other, .factor = -1});
  return graph_.add(graph::Add{.a = score, .b = other});
}

Result<graph::GraphOutput> EncoderBuilder::end_of(Value x, Value mask, const NetworkEnd& end) {
  if (end.hidden_states) return graph::GraphOutput{x, "last_hidden_state"};
  if (end.classifier) {
    LB_ASSIGN_OR_RETURN(x, classify(x, mask, *end.classifier));
    return graph::GraphOutput{x, "logits"};
  }
  if (end.token) {
    LB_ASSIGN_OR_RETURN(x, score_tokens(x, mask, *end.token));
    return graph::GraphOutput{x, "logits"};
  }
  if (end.vocabulary) {
    LB_ASSIGN_OR_RETURN(x, score_terms(x, *end.vocabulary));
    if (end.terms_of_tokens) return graph::GraphOutput{x, "logits"};
    // log(1 + max(x, 0)) is monotonic, so the maximum is the same before and after it.
    x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = graph::PoolingMode::kMax});
    return graph::GraphOutput{x, std::string(kTermLogits)};
  }
  if (!end.token_vectors) x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = end.pooling});
  if (!end.pooler.empty()) {
    LB_ASSIGN_OR_RETURN(x, head_layer(x, {.name = end.pooler, .in_encoder = true}, sizes_.hidden));
  }
  prefix_.clear();
  for (const VectorModule& module : end.modules) {
    LB_ASSIGN_OR_RETURN(x, std::visit([&](const auto& one) { return after_pooling(x, one); }, module));
  }
  if (end.normalize) x = graph_.add(graph::Normalize{.x = x});
  return graph::GraphOutput{x, end.token_vectors ? "token_vectors" : "sentence_embedding"};
}

Result<graph::Graph> EncoderBuilder::finish(Value x, Value mask) && {
  const std::string prefix = prefix_;
  std::vector<graph::GraphOutput> outputs;
  for (const NetworkEnd& end : use_.ends) {
    prefix_ = prefix;
    LB_ASSIGN_OR_RETURN(outputs.emplace_back(), end_of(x, mask, end));
  }
  return std::move(graph_).finish(std::move(outputs));
}

namespace {

class PlainNetwork final : public EncoderNetwork {
 public:
  explicit PlainNetwork(PlainEncoder parts) : EncoderNetwork(parts.sizes), parts_(std::move(parts)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    const std::size_t hidden = sizes().hidden;
    EncoderBuilder encoder(sizes(), weights, use, parts_.prefix);
    encoder.set_terms(parts_.terms);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, hidden));
    if (parts_.token_type_count > 0) {
      LB_ASSIGN_OR_RETURN(const Value type, encoder.token_type(parts_.token_type_count, hidden));
      x = encoder.graph().add(graph::Add{.a = x, .b = type});
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, hidden, std::string(parts_.norm)));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      const bool has_experts = !parts_.has_experts.empty() && parts_.has_experts[i];
      LB_ASSIGN_OR_RETURN(x, encoder.layer(x, mask, fmt::format("{}{}.", parts_.layers, i),
                                           has_experts ? parts_.expert_names : parts_.names));
    }
    return std::move(encoder).finish(x, mask);
  }

 private:
  const PlainEncoder parts_;
};

}  // namespace

std::shared_ptr<const Network> make_plain_encoder(PlainEncoder encoder) {
  return std::make_shared<const PlainNetwork>(std::move(encoder));
}

}  // namespace latebind::embedding
