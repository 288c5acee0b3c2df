#include "embedding/architectures/deberta.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "embedding/architectures/deberta_config.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using graph::Value;
using graph::Weight;
using std::filesystem::path;

// The names below "encoder.layer.N.".
constexpr LayerNames kDebertaNames{.attended = "attention.output.dense",
                                   .attended_norm = "attention.output.LayerNorm",
                                   .wide = "intermediate.dense",
                                   .narrow = "output.dense",
                                   .norm = "output.LayerNorm"};

// Builds the graph of one network.
class DebertaBuilder {
 public:
  DebertaBuilder(const DebertaConfig& config, const ModelWeights& weights, const NetworkUse& use)
      : config_(config), use_(use), encoder_(config.sizes, weights, use, "deberta.") {}

  Result<graph::Graph> make() && {
    const auto [ids, mask] = encoder_.inputs();
    LB_ASSIGN_OR_RETURN(const Value first, embeddings(ids));
    LB_ASSIGN_OR_RETURN(const auto table, positions());
    Value x = first;
    for (std::size_t i = 0; i < config_.sizes.layers; ++i) {
      LB_ASSIGN_OR_RETURN(x, layer(x, mask, table, fmt::format("encoder.layer.{}.", i)));
      if (i == 0 && config_.kernel > 0) {
        LB_ASSIGN_OR_RETURN(x, with_convolution(first, x, mask));
      }
    }
    return std::move(encoder_).finish(x, mask);
  }

 private:
  graph::GraphBuilder& graph() { return encoder_.graph(); }
  Value sum(Value a, Value b) { return graph().add(graph::Add{.a = a, .b = b}); }

  Result<Value> embeddings(Value ids) {
    const std::size_t width = config_.embedding_size;
    LB_ASSIGN_OR_RETURN(Value x, encoder_.words(ids, width));
    if (config_.has_positions) {
      LB_ASSIGN_OR_RETURN(const Value position, encoder_.positions(ids, width));
      x = sum(x, position);
    }
    if (config_.token_type_count > 0) {
      LB_ASSIGN_OR_RETURN(const Value type, encoder_.token_type(config_.token_type_count, width));
      x = sum(x, type);
    }
    if (width != config_.sizes.hidden) {
      LB_ASSIGN_OR_RETURN(x, encoder_.linear(x, "embeddings.embed_proj", width, config_.sizes.hidden, false));
    }
    return encoder_.norm(x, config_.sizes.hidden, "embeddings.LayerNorm");
  }

  // Returns the table of relative positions that the layers project; std::nullopt without relative positions.
  Result<std::optional<Value>> positions() {
    if (config_.span == 0 || config_.terms == 1) return std::optional<Value>();
    const auto rows = static_cast<std::size_t>(2 * config_.span);
    LB_ASSIGN_OR_RETURN(auto weight, encoder_.weight("encoder.rel_embeddings.weight", {rows, config_.sizes.hidden}));
    Value table = graph().add(graph::WholeTable{.table = std::move(weight)});
    if (config_.normalizes_positions) {
      LB_ASSIGN_OR_RETURN(table, encoder_.norm(table, config_.sizes.hidden, "encoder.LayerNorm"));
    }
    return std::optional(table);
  }

  Result<Value> projected(Value x, const std::string& name, bool has_bias = true) {
    return encoder_.linear(x, name, config_.sizes.hidden, config_.sizes.hidden, has_bias);
  }

  struct Parts {
    Value query;
    Value key;
    Value value;
  };
  Result<Parts> parts_of(Value x, const std::string& place) {
    Parts parts;
    LB_ASSIGN_OR_RETURN(parts.query, projected(x, place + "query_proj"));
    LB_ASSIGN_OR_RETURN(parts.key, projected(x, place + "key_proj"));
    LB_ASSIGN_OR_RETURN(parts.value, projected(x, place + "value_proj"));
    return parts;
  }
  // The first version has one matrix, with queries, keys and values of each head in succession, and separate biases.
  Result<Parts> joint_parts_of(Value x, const std::string& place) {
    const std::size_t hidden = config_.sizes.hidden;
    const auto width = static_cast<std::int64_t>(hidden / config_.sizes.heads);
    LB_ASSIGN_OR_RETURN(const Value all, encoder_.linear(x, place + "in_proj", hidden, 3 * hidden, false));
    const auto part = [&](std::int64_t which) {
      return graph().add(graph::Columns{.x = all, .width = 3 * width, .first = which * width, .count = width});
    };
    const auto with_bias = [&](Value of, const char* name) -> Result<Value> {
      LB_ASSIGN_OR_RETURN(Weight bias, encoder_.weight(place + name, {hidden}));
      bias.shape = core::Shape{1, static_cast<std::int64_t>(hidden)};
      return sum(of, graph().add(graph::RowLookup{.table = std::move(bias), .row = 0}));
    };
    Parts parts{.query = part(0), .key = part(1), .value = part(2)};
    LB_ASSIGN_OR_RETURN(parts.query, with_bias(parts.query, "q_bias"));
    LB_ASSIGN_OR_RETURN(parts.value, with_bias(parts.value, "v_bias"));
    return parts;
  }

  Result<std::optional<graph::Disentangled>> disentangled(std::optional<Value> table, const std::string& place) {
    if (!table) return std::optional<graph::Disentangled>();
    graph::Disentangled terms{.span = config_.span, .farthest = config_.farthest};
    const bool shares = config_.shares_projections;
    const bool is_first = config_.is_first;
    if (config_.content_to_position) {
      const char* const name = shares ? "key_proj" : is_first ? "pos_proj" : "pos_key_proj";
      LB_ASSIGN_OR_RETURN(terms.keys, projected(*table, place + name, !is_first));
    }
    if (config_.position_to_content) {
      const char* const name = shares ? "query_proj" : is_first ? "pos_q_proj" : "pos_query_proj";
      LB_ASSIGN_OR_RETURN(terms.queries, projected(*table, place + name));
    }
    return std::optional(terms);
  }

  Result<Value> attention(Value x, Value mask, std::optional<Value> table, const std::string& place) {
    LB_ASSIGN_OR_RETURN(const Parts parts, config_.is_first ? joint_parts_of(x, place) : parts_of(x, place));
    LB_ASSIGN_OR_RETURN(const auto terms, disentangled(table, place));
    const std::size_t width = config_.sizes.hidden / config_.sizes.heads;
    const std::int64_t heads = static_cast<std::int64_t>(config_.sizes.heads);
    return graph().add(
        graph::Attention{.query = parts.query,
                         .key = parts.key,
                         .value = parts.value,
                         .mask = mask,
                         .heads = heads,
                         .scale = 1.0F / std::sqrt(static_cast<float>(width) * static_cast<float>(config_.terms)),
                         .disentangled = terms,
                         .may_be_unattended = use_.may_be_unattended});
  }

  Result<Value> layer(Value x, Value mask, std::optional<Value> table, const std::string& place) {
    const std::size_t hidden = config_.sizes.hidden;
    const auto named = [&](std::string_view name) { return place + std::string(name); };
    LB_ASSIGN_OR_RETURN(const Value context, attention(x, mask, table, place + "attention.self."));
    LB_ASSIGN_OR_RETURN(const Value attended, projected(context, named(kDebertaNames.attended)));
    LB_ASSIGN_OR_RETURN(const Value middle,
                        encoder_.norm(sum(attended, x), hidden, named(kDebertaNames.attended_norm)));
    LB_ASSIGN_OR_RETURN(const Value narrow, encoder_.feed_forward(middle, place, kDebertaNames));
    return encoder_.norm(sum(narrow, middle), hidden, named(kDebertaNames.norm));
  }

  // Adds a convolution of the first layer's input to its result.
  Result<Value> with_convolution(Value input, Value x, Value mask) {
    const std::size_t hidden = config_.sizes.hidden;
    LB_ASSIGN_OR_RETURN(auto weight, encoder_.weight("encoder.conv.conv.weight", {hidden, hidden, config_.kernel}));
    LB_ASSIGN_OR_RETURN(auto bias, encoder_.weight("encoder.conv.conv.bias", {hidden}));
    const Value near =
        graph().add(graph::Convolution{.x = input, .mask = mask, .weight = std::move(weight), .bias = std::move(bias)});
    const Value active = graph().add(graph::Activation{.x = near, .function = config_.convolution_activation});
    return encoder_.norm(sum(active, x), hidden, "encoder.conv.LayerNorm");
  }

  const DebertaConfig& config_;
  const NetworkUse& use_;
  EncoderBuilder encoder_;
};

class DebertaNetwork final : public EncoderNetwork {
 public:
  explicit DebertaNetwork(const DebertaConfig& config) : EncoderNetwork(config.sizes), config_(config) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    return DebertaBuilder(config_, weights, use).make();
  }

 private:
  const DebertaConfig config_;
};

Result<std::shared_ptr<const Network>> read_version(const Json& config, const path& file, bool is_first) {
  LB_ASSIGN_OR_RETURN(const DebertaConfig deberta, read_deberta_config(config, file, is_first));
  return std::shared_ptr<const Network>(std::make_shared<const DebertaNetwork>(deberta));
}

}  // namespace

Result<std::shared_ptr<const Network>> read_deberta(const Json& config, const path& file) {
  return read_version(config, file, true);
}

Result<std::shared_ptr<const Network>> read_deberta_v2(const Json& config, const path& file) {
  return read_version(config, file, false);
}

}  // namespace latebind::embedding
