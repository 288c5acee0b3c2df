// Reads from config.json what the architectures of encoders have in common: sizes, epsilons, activations, and options
// that are refused. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

enum class NormKind : std::uint8_t {
  kLayer,
  kLayerWithoutBias,
  kRms,
  kRmsPlusOne,  // weights are stored minus 1
};

// Bounded when read: absurd sizes are rejected.
struct EncoderSizes {
  std::size_t hidden = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;   // 0: equal to `heads`
  std::size_t head_width = 0;  // 0: hidden / heads
  std::size_t intermediate = 0;
  std::size_t experts = 0;  // in each layer with experts
  std::size_t chosen = 0;   // experts for each token
  std::size_t vocabulary = 0;
  std::size_t positions = 0;           // rows of the position table
  std::optional<std::size_t> padding;  // an id from which positions are counted: graph::PositionLookup
  NormKind norm = NormKind::kLayer;
  float epsilon = 1e-12F;  // of every norm
  graph::ActivationFunction activation = graph::ActivationFunction::kGeluErf;
};

// A size in config.json and its upper limit.
struct SizeField {
  const char* key;
  std::size_t most;
  std::size_t* value;
};
// Further limits. The largest models of the family are an order of magnitude below.
inline constexpr std::size_t kLayersMax = 128;
inline constexpr std::size_t kHeadsMax = 256;
inline constexpr std::size_t kIntermediateMax = 65536;
inline constexpr std::size_t kVocabularyMax = std::size_t{1} << 22;
inline constexpr std::size_t kTokenTypesMax = 1024;

// Returns kInvalidModel, naming the keys, unless there are positions after the padding's.
[[nodiscard]] core::Status check_padding(const EncoderSizes& sizes, const std::filesystem::path& file,
                                         std::string_view padding_name);
// Reads sizes, all of which are required. Returns kInvalidModel, naming the key.
[[nodiscard]] core::Status read_sizes(const core::Json& config, const std::filesystem::path& file,
                                      std::initializer_list<SizeField> fields);
// Reads the six sizes that most of transformers' encoders have under the same names, and checks the heads.
[[nodiscard]] core::Status read_usual_sizes(const core::Json& config, const std::filesystem::path& file,
                                            EncoderSizes& sizes);
// Returns kInvalidModel, naming the keys, unless the number of heads divides the width.
[[nodiscard]] core::Status check_heads(const EncoderSizes& sizes, const std::filesystem::path& file,
                                       std::string_view hidden_key, std::string_view heads_key);
// Reads the name of an activation in transformers, or uses `otherwise`.
[[nodiscard]] core::Result<graph::ActivationFunction> read_activation(const core::Json& config, const char* key,
                                                                      const std::filesystem::path& file,
                                                                      std::string_view otherwise = "gelu");
// Reads the epsilon if the key is present.
[[nodiscard]] core::Status read_epsilon(const core::Json& config, const char* key, const std::filesystem::path& file,
                                        float& epsilon);
// Reads the positive limit of a soft cap: `otherwise` if the key is absent, std::nullopt if it is null.
[[nodiscard]] core::Result<std::optional<float>> read_soft_cap(const core::Json& config, const char* key,
                                                               const std::filesystem::path& file,
                                                               std::optional<float> otherwise = std::nullopt);
// Returns kUnsupported, naming the key, for options that would change the results of any encoder and are not
// implemented. `positions` is the accepted kind of position embedding.
[[nodiscard]] core::Status refuse_variants(const core::Json& config, const std::filesystem::path& file,
                                           std::string_view positions = "absolute");
// Likewise, for architectures with causal attention, which read `is_causal` themselves.
[[nodiscard]] core::Status refuse_variants_of_all(const core::Json& config, const std::filesystem::path& file,
                                                  std::string_view positions);
// Likewise, for what no architecture supports: pruned heads, quantized weights, layers of different sizes.
[[nodiscard]] core::Status refuse_changed_layers(const core::Json& config, const std::filesystem::path& file);
// Returns kUnsupported, naming key and value, if the key is present, not null, and not equal to `expected`.
[[nodiscard]] core::Status expect(const core::Json& config, const std::filesystem::path& file, const char* key,
                                  const core::Json& expected);

}  // namespace latebind::embedding
