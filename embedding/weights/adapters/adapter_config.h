// AdapterConfig: adapter_config.json of a LoRA adapter, as PEFT writes it.
//
// Source of the keys: PEFT 0.19. A value; reading is a pure function, safe for concurrent use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

inline constexpr std::string_view kAdapterConfigFile = "adapter_config.json";
// The weights beside it. The first file that exists is used.
inline constexpr std::string_view kAdapterFile = "adapter_model.safetensors";
inline constexpr std::string_view kAdapterTorchFile = "adapter_model.bin";

struct AdapterConfig {
  // A number for the modules whose last components are `module`, such as "q_proj" or "layers.0.self_attn.q_proj"; a dot
  // matches any character. With a leading "^", the whole name must match.
  struct Pattern {
    std::string module;
    double number = 0;
  };

  std::string file{};          // for messages
  std::string base{};          // the model that the adapter changes: a folder, or a name on the hub
  bool is_stabilized = false;  // rsLoRA
  bool is_dora = false;
  // The modules with a change. std::nullopt if the file has a regular expression, or stands for all linear layers.
  std::optional<std::vector<std::string>> targets = std::nullopt;

  // Return the rank of this module's change, and its scale.
  [[nodiscard]] std::size_t rank_of(std::string_view module) const;
  [[nodiscard]] float scale_of(std::string_view module) const;
  // Returns whether the adapter changes this module.
  [[nodiscard]] bool is_target(std::string_view module) const;

  double rank = 8;
  double alpha = 8;
  std::vector<Pattern> ranks{};
  std::vector<Pattern> alphas{};
};

// Returns kInvalidModel, or kUnsupported for kinds of adapters and options that would give other numbers, naming the
// key.
[[nodiscard]] core::Result<AdapterConfig> read_adapter_config(const core::Json& config,
                                                              const std::filesystem::path& file);

}  // namespace latebind::embedding
