#include "embedding/folder/gguf/network_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/value.h"
#include "embedding/folder/gguf/keys.h"
#include "embedding/weights/gguf/tensor_names.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;

// llama.cpp's numbers of the pooling modes.
enum class GgufPooling : std::uint8_t { kNone = 0, kMean = 1, kCls = 2, kLast = 3, kRank = 4 };
constexpr std::array<std::string_view, 4> kGgufPoolingWords{"", "mean", "cls", "lasttoken"};

struct GgufKind {
  std::string_view architecture;
  std::string_view model_type;  // in config.json
  std::string_view network;     // the beginning of the class in config.json
  bool is_decoder = false;
  bool is_gemma3 = false;
};
constexpr std::array kGgufKinds{GgufKind{"bert", "bert", "Bert"},
                                GgufKind{"gemma", "gemma", "Gemma", true},
                                GgufKind{"gemma-embedding", "gemma3_text", "Gemma3Text", true, true},
                                GgufKind{"gemma3", "gemma3_text", "Gemma3Text", true, true},
                                GgufKind{"llama", "llama", "Llama", true},
                                GgufKind{"nomic-bert", "nomic_bert", "NomicBert"},
                                GgufKind{"qwen2", "qwen2", "Qwen2", true},
                                GgufKind{"qwen3", "qwen3", "Qwen3", true}};

// The keys of an architecture that are read, and those without effect on vectors.
constexpr std::array<std::string_view, 31> kGgufKeysRead{"attention.causal",
                                                         "attention.head_count",
                                                         "attention.head_count_kv",
                                                         "attention.key_length",
                                                         "attention.layer_norm_epsilon",
                                                         "attention.layer_norm_rms_epsilon",
                                                         "attention.sliding_window",
                                                         "attention.sliding_window_pattern",
                                                         "attention.value_length",
                                                         "block_count",
                                                         "classifier.output_labels",
                                                         "context_length",
                                                         "dense_2_feat_in",
                                                         "dense_2_feat_out",
                                                         "dense_3_feat_in",
                                                         "dense_3_feat_out",
                                                         "embedding_length",
                                                         "embedding_length_out",
                                                         "feed_forward_length",
                                                         "final_logit_softcapping",
                                                         "normalize_embeddings",
                                                         "pooling_type",
                                                         "rope.dimension_count",
                                                         "rope.freq_base",
                                                         "rope.freq_base_swa",
                                                         "rope.scaling.factor",
                                                         "rope.scaling.finetuned",
                                                         "rope.scaling.original_context_length",
                                                         "rope.scaling.type",
                                                         "tensor_data_layout",
                                                         "vocab_size"};

class NetworkDescription {
 public:
  NetworkDescription(const GgufHeader& header, const GgufKind& kind) : keys_(header), kind_(kind) {}

  Result<GgufNetwork> make() {
    LB_RETURN_IF_ERROR(check_keys());
    config_["model_type"] = kind_.model_type;
    LB_RETURN_IF_ERROR(read_sizes());
    LB_RETURN_IF_ERROR(kind_.is_decoder ? read_decoder() : read_encoder());
    LB_RETURN_IF_ERROR(check_tensors());
    LB_RETURN_IF_ERROR(read_end());
    GgufNetwork made;
    for (auto& [name, json] : files_)
      made.files.emplace(name, json.dump());
    made.files.emplace("config.json", config_.dump());
    made.files.merge(texts_);
    made.assumed = assumed_.empty() ? "" : fmt::format("{} does not say {}", keys_.header().name(), assumed_);
    made.is_decoder = kind_.is_decoder;
    return made;
  }

 private:
  Status check_keys() const;
  Status check_tensors() const;
  [[nodiscard]] bool may_have_bias(std::string_view stem) const;
  Status read_sizes();
  Status read_encoder();
  Status read_decoder();
  Status read_gemma3();
  Status read_rope(const char* base_key);
  Status read_end();
  Result<GgufPooling> read_pooling();
  Status read_classifier();
  Status add_modules(GgufPooling pooling);
  Status check_dense(std::string_view stem, const GgufTensor* weight) const;
  Status add_dense(std::string_view stem, const std::string& folder, Json& list);

  static Json module(const Json& list, std::string_view path, std::string_view type) {
    return {{"idx", list.size()},
            {"name", fmt::format("{}", list.size())},
            {"path", path},
            {"type", fmt::format("sentence_transformers.models.{}", type)}};
  }
  void assume(std::string_view what) { assumed_ += fmt::format("{}{}", assumed_.empty() ? "" : "; nor ", what); }

  GgufKeys keys_;
  const GgufKind& kind_;
  Json config_ = Json::object();
  std::map<std::string, Json> files_;
  DescribedFiles texts_;
  std::string assumed_;
  std::uint64_t hidden_ = 0;
  std::uint64_t layers_ = 0;
  std::uint64_t heads_ = 0;
  std::uint64_t head_width_ = 0;
};

Status NetworkDescription::check_keys() const {
  const std::string place = keys_.full("");
  for (const auto& [key, value] : keys_.header().values()) {
    if (!key.starts_with(place)) continue;
    if (std::ranges::find(kGgufKeysRead, key.substr(place.size())) != kGgufKeysRead.end()) continue;
    return keys_.unsupported(
        fmt::format("the key {} is not supported, and may change what the network computes", core::quoted(key)));
  }
  return {};
}

bool NetworkDescription::may_have_bias(std::string_view stem) const {
  if (stem.ends_with("norm")) return !kind_.is_decoder;
  if (stem == "cls" || stem == "cls.output") return !kind_.is_decoder;
  if (kind_.model_type == "bert") return true;
  const bool is_input = stem == "attn_q" || stem == "attn_k" || stem == "attn_v";
  if (kind_.model_type == "qwen2") return is_input;
  if (stem.starts_with("attn_")) return config_.value("attention_bias", Json(false)) == Json(true);
  return stem.starts_with("ffn_") && config_.value("mlp_bias", Json(false)) == Json(true);
}

// Every tensor must be one that the network uses.
Status NetworkDescription::check_tensors() const {
  LB_ASSIGN_OR_RETURN(const GgufNames names, GgufNames::of(keys_.header()));
  for (const auto& [name, tensor] : keys_.header().tensors()) {
    // A decoder's language-modelling head does not affect vectors.
    if (name == "output.weight" && kind_.is_decoder) continue;
    std::string_view stem = name;
    std::uint64_t layer = 0;
    if (stem.starts_with("blk.")) {
      stem.remove_prefix(4);
      for (; !stem.empty() && stem.front() >= '0' && stem.front() <= '9' && layer < layers_; stem.remove_prefix(1))
        layer = layer * 10 + static_cast<std::uint64_t>(stem.front() - '0');
      if (stem.starts_with('.')) stem.remove_prefix(1);
    }
    bool is_asked_for = names.rename(name).has_value() && layer < layers_;
    if (stem.ends_with(".bias")) is_asked_for = is_asked_for && may_have_bias(stem.substr(0, stem.size() - 5));
    if (is_asked_for) continue;
    const std::string_view why =
        name == "rope_freqs.weight" ? " (scaled positions, as of Llama 3.1, are not read from GGUF)" : "";
    return keys_.unsupported(
        fmt::format("the tensor {} is not one that '{}' has here{}", core::quoted(name), kind_.architecture, why));
  }
  return {};
}

Status NetworkDescription::read_sizes() {
  LB_ASSIGN_OR_RETURN(hidden_, keys_.required("embedding_length"));
  LB_ASSIGN_OR_RETURN(layers_, keys_.required("block_count"));
  LB_ASSIGN_OR_RETURN(heads_, keys_.required("attention.head_count"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t wide, keys_.required("feed_forward_length"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t positions, keys_.required("context_length"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t words, keys_.rows("token_embd.weight"));
  if (heads_ == 0) return keys_.invalid(fmt::format("'{}' is 0", keys_.full("attention.head_count")));
  LB_ASSIGN_OR_RETURN(head_width_, keys_.whole("attention.key_length", hidden_ / heads_));
  LB_ASSIGN_OR_RETURN(const std::uint64_t value_width, keys_.whole("attention.value_length", head_width_));
  LB_ASSIGN_OR_RETURN(const std::uint64_t turned, keys_.whole("rope.dimension_count", head_width_));
  for (const auto& [key, width] :
       {std::pair("attention.value_length", value_width), {"rope.dimension_count", turned}}) {
    if (width == head_width_) continue;
    return keys_.unsupported(
        fmt::format("'{}' is {}; only the width of a head, {}, is supported", keys_.full(key), width, head_width_));
  }
  const bool is_nomic = kind_.model_type == "nomic_bert";
  config_[is_nomic ? "n_embd" : "hidden_size"] = hidden_;
  config_[is_nomic ? "n_layer" : "num_hidden_layers"] = layers_;
  config_[is_nomic ? "n_head" : "num_attention_heads"] = heads_;
  config_[is_nomic ? "n_inner" : "intermediate_size"] = wide;
  config_[is_nomic ? "n_positions" : "max_position_embeddings"] = positions;
  config_["vocab_size"] = words;
  LB_ASSIGN_OR_RETURN(const auto causal, keys_.flag("attention.causal"));
  if (causal) config_["is_causal"] = *causal;
  return {};
}

Status NetworkDescription::read_encoder() {
  LB_ASSIGN_OR_RETURN(config_["type_vocab_size"], keys_.rows("token_types.weight"));
  LB_ASSIGN_OR_RETURN(const auto epsilon, keys_.number("attention.layer_norm_epsilon"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t key_heads, keys_.whole("attention.head_count_kv", heads_));
  if (key_heads != heads_)
    return keys_.unsupported(fmt::format("'{}' is {}", keys_.full("attention.head_count_kv"), key_heads));
  if (kind_.model_type == "nomic_bert") {
    if (epsilon) config_["layer_norm_epsilon"] = *epsilon;
    config_["activation_function"] = "swiglu";
    return read_rope("rotary_emb_base");
  }
  if (epsilon) config_["layer_norm_eps"] = *epsilon;
  config_["hidden_act"] = "gelu";
  LB_ASSIGN_OR_RETURN(config_["max_position_embeddings"], keys_.rows("position_embd.weight"));
  return {};
}

Status NetworkDescription::read_decoder() {
  LB_ASSIGN_OR_RETURN(config_["num_key_value_heads"], keys_.whole("attention.head_count_kv", heads_));
  config_["head_dim"] = head_width_;
  LB_ASSIGN_OR_RETURN(const auto epsilon, keys_.number("attention.layer_norm_rms_epsilon"));
  if (epsilon) config_["rms_norm_eps"] = *epsilon;
  if (kind_.model_type != "qwen2") config_["attention_bias"] = keys_.has_tensor("blk.0.attn_q.bias");
  if (kind_.model_type == "llama") config_["mlp_bias"] = keys_.has_tensor("blk.0.ffn_up.bias");
  LB_ASSIGN_OR_RETURN(const std::uint64_t window, keys_.whole("attention.sliding_window", 0));
  if (kind_.is_gemma3) return read_gemma3();
  if (window != 0)
    return keys_.unsupported(fmt::format("'{}' is not supported", keys_.full("attention.sliding_window")));
  return read_rope("rope_theta");
}

Status NetworkDescription::read_gemma3() {
  const bool is_embedder = kind_.architecture == "gemma-embedding";
  config_["use_bidirectional_attention"] = is_embedder || config_.value("is_causal", Json(true)) == Json(false);
  // Only that key makes the network bidirectional.
  config_.erase("is_causal");
  // All models but the largest use this scale. Like llama.cpp, this recognizes the largest by its number of layers.
  constexpr std::uint64_t kLayersOfLargest = 62;
  config_["query_pre_attn_scalar"] = layers_ == kLayersOfLargest ? hidden_ / heads_ : head_width_;
  LB_ASSIGN_OR_RETURN(config_["sliding_window"], keys_.required("attention.sliding_window"));
  LB_ASSIGN_OR_RETURN(config_["sliding_window_pattern"], keys_.whole("attention.sliding_window_pattern", 6));
  LB_ASSIGN_OR_RETURN(const auto local_base, keys_.number("rope.freq_base_swa"));
  config_["rope_local_base_freq"] = local_base.value_or(10000.0);
  return read_rope("rope_theta");
}

Status NetworkDescription::read_rope(const char* base_key) {
  LB_ASSIGN_OR_RETURN(const auto base, keys_.number("rope.freq_base"));
  config_[base_key] = base.value_or(10000.0);
  LB_ASSIGN_OR_RETURN(const auto given, keys_.header().text(keys_.full("rope.scaling.type")));
  LB_ASSIGN_OR_RETURN(const auto factor, keys_.number("rope.scaling.factor"));
  // As in llama.cpp, a factor without a type is that of linear scaling, and 0 and 1 scale nothing.
  const bool is_scaled = factor && *factor != 0 && *factor != 1;
  const std::string_view scaling = given ? *given : is_scaled ? "linear" : "none";
  if (scaling == "none") return {};
  if (!given && kind_.model_type == "nomic_bert") {
    return keys_.unsupported(fmt::format("'{}' is {}; scaled positions are supported only in decoders",
                                         keys_.full("rope.scaling.factor"), *factor));
  }
  if (scaling != "linear" || !factor || kind_.model_type == "nomic_bert") {
    return keys_.unsupported(
        fmt::format("'{}' is {}; supported are no scaling and, in decoders, linear scaling with a factor",
                    keys_.full("rope.scaling.type"), core::quoted(scaling)));
  }
  config_["rope_scaling"] = {{"rope_type", "linear"}, {"factor", *factor}};
  return {};
}

Result<GgufPooling> NetworkDescription::read_pooling() {
  LB_ASSIGN_OR_RETURN(const auto given, keys_.header().whole(keys_.full("pooling_type")));
  if (given && *given > static_cast<std::uint64_t>(GgufPooling::kRank)) {
    return keys_.unsupported(
        fmt::format("'{}' is {}; 1 (mean), 2 (the first token), 3 (the last token) and 4 (scores) are supported",
                    keys_.full("pooling_type"), *given));
  }
  if (given && *given != 0) return static_cast<GgufPooling>(*given);
  const bool is_causal = kind_.is_decoder && !kind_.is_gemma3 && config_.value("is_causal", Json(true)) == Json(true);
  assume(is_causal ? "how vectors are pooled: the last token's is taken"
                   : "how vectors are pooled: their mean is taken");
  return is_causal ? GgufPooling::kLast : GgufPooling::kMean;
}

Status NetworkDescription::read_end() {
  LB_ASSIGN_OR_RETURN(const GgufPooling pooling, read_pooling());
  if (pooling == GgufPooling::kRank) return read_classifier();
  for (const std::string_view tensor : {"cls.weight", "cls.output.weight"}) {
    if (!keys_.has_tensor(tensor)) continue;
    return keys_.unsupported(
        fmt::format("the tensor '{}' without a 'pooling_type' of 4 (scores) is not supported", tensor));
  }
  config_["architectures"] = Json::array({fmt::format("{}Model", kind_.network)});
  return add_modules(pooling);
}

Status NetworkDescription::read_classifier() {
  if (kind_.model_type != "bert") {
    return keys_.unsupported(fmt::format(
        "rerankers ('pooling_type' is 4) of '{}' are not supported in GGUF, only those of bert", kind_.architecture));
  }
  for (const std::string_view tensor : {"cls.weight", "cls.bias", "cls.output.weight", "cls.output.bias"}) {
    if (keys_.has_tensor(tensor)) continue;
    return keys_.unsupported(fmt::format("a reranker without the tensor '{}' is not supported", tensor));
  }
  config_["architectures"] = Json::array({fmt::format("{}ForSequenceClassification", kind_.network)});
  LB_ASSIGN_OR_RETURN(const std::uint64_t count, keys_.rows("cls.output.weight"));
  LB_ASSIGN_OR_RETURN(const auto labels, keys_.header().texts(keys_.full("classifier.output_labels")));
  config_["num_labels"] = count;
  if (!labels) return {};
  if (labels->size() != count)
    return keys_.invalid(fmt::format("{} labels for {} rows of 'cls.output.weight'", labels->size(), count));
  for (std::size_t i = 0; i < labels->size(); ++i)
    config_["id2label"][fmt::format("{}", i)] = core::printable((*labels)[i]);
  return {};
}

// The sizes in the metadata must be those of the tensor, which is null if the file has none.
Status NetworkDescription::check_dense(std::string_view stem, const GgufTensor* weight) const {
  if (weight != nullptr && weight->shape.size() != 2)
    return keys_.invalid(fmt::format("the tensor '{}.weight' is no matrix", stem));
  for (const auto& [end, axis] : {std::pair("feat_in", std::size_t{1}), {"feat_out", 0}}) {
    const std::string key = fmt::format("{}_{}", stem, end);
    LB_ASSIGN_OR_RETURN(const auto size, keys_.header().whole(keys_.full(key)));
    if (!size) continue;
    if (weight == nullptr)
      return keys_.invalid(fmt::format("it has the key '{}', but no tensor '{}.weight'", keys_.full(key), stem));
    const auto actual = static_cast<std::uint64_t>(weight->shape[axis]);
    if (*size == actual) continue;
    return keys_.invalid(fmt::format("'{}' is {}, but the tensor '{}.weight' has {} {}", keys_.full(key), *size, stem,
                                     actual, axis == 0 ? "rows" : "columns"));
  }
  return {};
}

Status NetworkDescription::add_dense(std::string_view stem, const std::string& folder, Json& list) {
  const GgufTensor* const weight = keys_.header().find_tensor(fmt::format("{}.weight", stem));
  LB_RETURN_IF_ERROR(check_dense(stem, weight));
  if (weight == nullptr) return {};
  files_[folder + "/config.json"] = {{"in_features", weight->shape[1]},
                                     {"out_features", weight->shape[0]},
                                     {"bias", false},
                                     {"activation_function", "torch.nn.modules.linear.Identity"}};
  // The GGUF file holds the module's matrix, so the module's file has no tensors.
  const std::string header = "{}      ";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  texts_.emplace(folder + "/model.safetensors", text + header);
  list.push_back(module(list, folder, "Dense"));
  return {};
}

Status NetworkDescription::add_modules(GgufPooling pooling) {
  Json list = Json::array();
  list.push_back(module(list, "", "Transformer"));
  list.push_back(module(list, "1_Pooling", "Pooling"));
  files_["1_Pooling/config.json"] = {{"word_embedding_dimension", hidden_},
                                     {"pooling_mode", kGgufPoolingWords[static_cast<std::size_t>(pooling)]}};
  LB_RETURN_IF_ERROR(add_dense("dense_2", "2_Dense", list));
  LB_RETURN_IF_ERROR(add_dense("dense_3", "3_Dense", list));
  LB_ASSIGN_OR_RETURN(const auto normalize, keys_.flag("normalize_embeddings"));
  if (!normalize) assume("whether vectors are normalized: they are, as by llama.cpp's programs");
  if (normalize.value_or(true)) list.push_back(module(list, "4_Normalize", "Normalize"));
  files_["modules.json"] = std::move(list);
  return {};
}

}  // namespace

Result<GgufNetwork> describe_gguf_network(const GgufHeader& header) {
  const auto* const kind = std::ranges::find(kGgufKinds, header.architecture(), &GgufKind::architecture);
  if (kind != kGgufKinds.end()) return NetworkDescription(header, *kind).make();
  std::vector<std::string_view> known;
  for (const GgufKind& one : kGgufKinds)
    known.push_back(one.architecture);
  return core::Status(core::StatusCode::kUnsupported,
                      fmt::format("{}: 'general.architecture' is {}; of GGUF, {} are supported", header.name(),
                                  core::quoted(header.architecture()), fmt::join(known, ", ")));
}

}  // namespace latebind::embedding
