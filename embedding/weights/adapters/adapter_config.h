// AdapterConfig: adapter_config.json of a LoRA adapter, as PEFT writes it.
//
// Source of the keys: PEFT 0.19. A value; reading is a pure function, safe for concurrent use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/weights/adapters/module_pattern.h"

namespace latebind::embedding {

inline constexpr std::string_view kAdapterConfigFile = "adapter_config.json";
// The weights beside it. The first file that exists is used.
inline constexpr std::string_view kAdapterFile = "adapter_model.safetensors";
inline constexpr std::string_view kAdapterTorchFile = "adapter_model.bin";

struct AdapterConfig {
  // A number for the modules whose names, or the ends of their names after a dot, match the expression. Such names are
  // "q_proj" and "layers.0.self_attn.q_proj".
  struct Pattern {
    ModulePattern module;
    double number = 0;
  };
  // Modules: a list of the ends of their names, or an expression for their whole names.
  using Modules = std::variant<std::vector<std::string>, ModulePattern>;

  std::string file{};          // for messages
  std::string base{};          // the model that the adapter changes: a folder, or a name on the hub
  bool is_stabilized = false;  // rsLoRA
  bool is_dora = false;
  // The modules with a change. std::nullopt for all.
  std::optional<Modules> targets = std::nullopt;
  std::optional<Modules> excluded = std::nullopt;

  // Return the rank of this module's change, its scale, and whether the adapter changes it. They return kUnsupported
  // for an expression that takes too many steps.
  [[nodiscard]] core::Result<std::size_t> rank_of(std::string_view module) const;
  [[nodiscard]] core::Result<float> scale_of(std::string_view module) const;
  [[nodiscard]] core::Result<bool> is_target(std::string_view module) const;

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
