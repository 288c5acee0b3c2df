// What the files of a model say of it as a cross-encoder: a network that gives numbers for two texts together.
//
// Source: sentence-transformers' CrossEncoder; config.json of transformers' networks for sequence classification. Pure
// functions of the files, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/encoder_kind.h"

namespace latebind::embedding {

// What is done to a network's numbers (logits) to make scores of them.
enum class ScoreFunction : std::uint8_t {
  kIdentity,
  kSigmoid,  // 1 / (1 + exp(-x)), each number by itself
};

struct CrossEncoderConfig {
  ScoreFunction function = ScoreFunction::kIdentity;
  // Names of the labels, in their order; one for each number.
  std::vector<std::string> labels{};
};

// `config_file` stands for config.json in messages. `labels`: how many there are, where it is not config.json that says
// so. kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<CrossEncoderConfig> read_cross_encoder(const ConfigFile& own, const nlohmann::json& config,
                                                                  const std::filesystem::path& config_file,
                                                                  std::optional<std::size_t> labels);

}  // namespace latebind::embedding
