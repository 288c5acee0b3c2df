// What the encoders of the BERT family have in common: the layers of attention and feed-forward between which a token's
// vector is added to and normalised, and the ends of the network. An architecture gives its own names and embeddings.
//
// Source: Vaswani et al., "Attention Is All You Need" (2017), with the norms behind the sums. Pooling as
// sentence-transformers defines it. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

enum class NormKind : std::uint8_t {
  kLayer,
  kLayerWithoutBias,
  kRms,
  kRmsPlusOne,  // its weights are stored less 1
};

// Bounded when read: absurd ones are rejected.
struct EncoderSizes {
  std::size_t hidden = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;   // 0: as many
  std::size_t head_width = 0;  // 0: hidden / heads
  std::size_t intermediate = 0;
  std::size_t vocabulary = 0;
  std::size_t positions = 0;           // rows of their table
  std::optional<std::size_t> padding;  // an id: positions are counted as graph::PositionLookup says
  NormKind norm = NormKind::kLayer;
  float epsilon = 1e-12F;  // of every norm
  graph::ActivationFunction activation = graph::ActivationFunction::kGeluErf;
};

// Where config.json has a size, and the most that is believed.
struct SizeField {
  const char* key;
  std::size_t most;
  std::size_t* value;
};
// Limits of sizes beside those of every network; the largest models of the family are an order of magnitude below.
inline constexpr std::size_t kLayersMax = 128;
inline constexpr std::size_t kHeadsMax = 256;
inline constexpr std::size_t kIntermediateMax = 65536;
inline constexpr std::size_t kVocabularyMax = std::size_t{1} << 22;
inline constexpr std::size_t kTokenTypesMax = 1024;

// kInvalidModel, naming the keys, where there is no position behind the padding's.
[[nodiscard]] core::Status check_padding(const EncoderSizes& sizes, const std::filesystem::path& file,
                                         std::string_view padding_name);
// Each must be there. kInvalidModel, naming the key.
[[nodiscard]] core::Status read_sizes(const nlohmann::json& config, const std::filesystem::path& file,
                                      std::initializer_list<SizeField> fields);
// The six that most of transformers' encoders have under the same names, and that the heads divide the width.
[[nodiscard]] core::Status read_usual_sizes(const nlohmann::json& config, const std::filesystem::path& file,
                                            EncoderSizes& sizes);
// kInvalidModel, naming the keys, where the heads do not divide the width.
[[nodiscard]] core::Status check_heads(const EncoderSizes& sizes, const std::filesystem::path& file,
                                       std::string_view hidden_key, std::string_view heads_key);
// One of transformers' names in config.json, by the formula behind it; `otherwise` where there is none.
[[nodiscard]] core::Result<graph::ActivationFunction> read_activation(const nlohmann::json& config, const char* key,
                                                                      const std::filesystem::path& file,
                                                                      std::string_view otherwise = "gelu");
// Where there is one.
[[nodiscard]] core::Status read_epsilon(const nlohmann::json& config, const char* key,
                                        const std::filesystem::path& file, float& epsilon);
// What would change the numbers of any encoder and is not implemented: kUnsupported, naming the key. `positions`: what
// config.json may call them.
[[nodiscard]] core::Status refuse_variants(const nlohmann::json& config, const std::filesystem::path& file,
                                           std::string_view positions = "absolute");
// The same of a network whose tokens may see those before them alone: `is_causal` is its own to read.
[[nodiscard]] core::Status refuse_variants_of_all(const nlohmann::json& config, const std::filesystem::path& file,
                                                  std::string_view positions);
// Where a key is there and not null, it must say what is computed: kUnsupported, naming both.
[[nodiscard]] core::Status expect(const nlohmann::json& config, const std::filesystem::path& file, const char* key,
                                  const nlohmann::json& expected);

// The tensors of a layer, without ".weight" and ".bias".
struct LayerNames {
  std::string_view query{};
  std::string_view key{};
  std::string_view value{};
  std::string_view query_key_value{};  // instead: the three as one
  std::string_view query_norm{};       // of each head's, where there is one
  std::string_view key_norm{};
  std::string_view attended{};       // what joins the heads
  std::string_view attended_norm{};  // behind attention and its sum, or before attention
  std::string_view attended_end{};   // between both, where there is one
  std::string_view wide{};
  std::string_view gate{};           // by which the wide part is multiplied, where there is one
  std::string_view wide_and_gate{};  // instead: the two as one
  std::string_view gate_and_wide{};  // or in this order
  std::string_view narrow{};
  std::string_view norm{};        // behind the feed-forward part and its sum, or before that part
  std::string_view narrow_end{};  // between both, where there is one
  // Which of them have one.
  bool query_bias = true;  // and the key's and the value's
  bool attended_bias = true;
  bool wide_bias = true;  // and the gate's
  bool narrow_bias = true;
};

class EncoderNetwork : public Network {
 public:
  explicit EncoderNetwork(const EncoderSizes& sizes) : sizes_(sizes) {}

  [[nodiscard]] std::size_t vocabulary_size() const override { return sizes_.vocabulary; }
  [[nodiscard]] std::size_t hidden_size() const override { return sizes_.hidden; }
  [[nodiscard]] std::size_t tokens_max() const override {
    return sizes_.positions - (sizes_.padding ? *sizes_.padding + 1 : 0);
  }

 protected:
  [[nodiscard]] const EncoderSizes& sizes() const { return sizes_; }

 private:
  const EncoderSizes sizes_;
};

// What attention knows of the places of tokens, and its scale: 1 / √(width of a head) where there is none.
struct AttentionTerms {
  std::optional<graph::DistanceBias> distance_bias = std::nullopt;
  std::optional<graph::LinearBias> linear_bias = std::nullopt;
  std::optional<graph::Rotary> rotary = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool causal = false;
  std::optional<float> scale = std::nullopt;
};

// Whether the types of tokens are an input of a network with so many.
[[nodiscard]] inline bool takes_token_types(std::size_t types, const NetworkUse& use) {
  return use.token_types && types > 1;
}

class EncoderBuilder {
 public:
  // `use`: what finish() makes; it must outlive the builder. `prefix`: below it checkpoints of models with a head on
  // top keep the encoder ("bert."). `words`: the tensor with the vectors of the ids.
  EncoderBuilder(const EncoderSizes& sizes, const ModelWeights& weights, const NetworkUse& use, std::string_view prefix,
                 std::string words = "embeddings.word_embeddings.weight");

  // `input_ids` and `attention_mask`: the first nodes.
  [[nodiscard]] std::pair<graph::Value, graph::Value> inputs();
  // Errors name the tensor.
  [[nodiscard]] core::Result<graph::Weight> weight(const std::string& name, std::initializer_list<std::size_t> dims);
  // Over each `width` numbers. Old checkpoints call the two tensors of a layer norm gamma and beta.
  [[nodiscard]] core::Result<graph::Value> norm(graph::Value x, std::size_t width, const std::string& name);
  [[nodiscard]] core::Result<graph::Value> linear(graph::Value x, const std::string& name, std::size_t in,
                                                  std::size_t out, bool has_bias = true);
  // Vectors of the ids, of their places, and of the tokens' types: [batch, tokens, width] where types are given, else
  // [width], that of the first type, which all tokens of a single text have.
  [[nodiscard]] core::Result<graph::Value> words(graph::Value ids, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> positions(graph::Value ids, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> token_type(std::size_t types, std::size_t width);
  // Of all attention that follows.
  void set_terms(AttentionTerms terms) { terms_ = std::move(terms); }
  // `place`: "encoder.layer.0."
  [[nodiscard]] core::Result<graph::Value> attention(graph::Value x, graph::Value mask, const std::string& place,
                                                     const LayerNames& names);
  [[nodiscard]] core::Result<graph::Value> feed_forward(graph::Value x, const std::string& place,
                                                        const LayerNames& names);
  // Both, each with its sum, and the norm behind it.
  [[nodiscard]] core::Result<graph::Value> layer(graph::Value x, graph::Value mask, const std::string& place,
                                                 const LayerNames& names);
  // Both, each with the norm before it, and its sum. A norm without a name is left out.
  [[nodiscard]] core::Result<graph::Value> pre_norm_layer(graph::Value x, graph::Value mask, const std::string& place,
                                                          const LayerNames& names);
  // All of them, "encoder.layer." and their number being the place.
  [[nodiscard]] core::Result<graph::Value> layers(graph::Value x, graph::Value mask, std::string_view place,
                                                  const LayerNames& names);
  [[nodiscard]] core::Result<graph::Graph> finish(graph::Value x, graph::Value mask) &&;

  [[nodiscard]] graph::GraphBuilder& graph() { return graph_; }

 private:
  // By one of so many matrices, [out, in] each, that are stored as one.
  [[nodiscard]] core::Result<graph::Value> linear_of(graph::Value x, const std::string& name, std::size_t in,
                                                     std::size_t out, std::size_t which, std::size_t of, bool has_bias);
  [[nodiscard]] core::Result<graph::Value> norm_of(graph::Value x, std::size_t width, const std::string& name,
                                                   NormKind kind, float epsilon);
  // The value and the name of this end.
  [[nodiscard]] core::Result<graph::GraphOutput> end_of(graph::Value x, graph::Value mask, const NetworkEnd& end);
  [[nodiscard]] core::Result<graph::Value> classify(graph::Value x, graph::Value mask, const ClassifierHead& head);
  [[nodiscard]] core::Result<graph::Value> score_terms(graph::Value x, const VocabularyHead& head);
  [[nodiscard]] core::Result<graph::Value> head_layer(graph::Value x, const HeadLayer& layer, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> after_pooling(graph::Value x, const DenseModule& dense);
  [[nodiscard]] core::Result<graph::Value> after_pooling(graph::Value x, const LayerNormModule& module);
  [[nodiscard]] core::Result<graph::Value> norm_if_named(graph::Value x, std::size_t width, const std::string& place,
                                                         std::string_view name);

  EncoderSizes sizes_;
  const ModelWeights& weights_;
  const NetworkUse& use_;
  graph::GraphBuilder graph_;
  std::string words_;
  std::string prefix_;
  AttentionTerms terms_;
};

// A network with no parts but these: the vectors of the words, with that of the type of all tokens where there are
// types, a norm, and layers. Texts are literals.
struct PlainEncoder {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;
  AttentionTerms terms{};
  std::string_view prefix{};  // as EncoderBuilder's
  std::string_view norm = "embeddings.LayerNorm";
  std::string_view layers = "encoder.layer.";
  LayerNames names{};
};
[[nodiscard]] std::shared_ptr<const Network> make_plain_encoder(PlainEncoder encoder);

}  // namespace latebind::embedding
