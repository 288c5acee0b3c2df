// Which kind of model a folder is. Internal to ModelFolder.
#pragma once

#include <filesystem>
#include <optional>

#include "core/json.h"
#include "core/status.h"
#include "embedding/encoder_kind.h"
#include "embedding/modules.h"

namespace latebind::embedding {

struct ModelFolder;

// Its kind, and what its numbers mean where they are no vector. kInvalidModel or kUnsupported, naming the file.
[[nodiscard]] core::Status take_kind(const Modules& modules, const ConfigFile& own,
                                     const std::optional<nlohmann::json>& config,
                                     const std::filesystem::path& config_file,
                                     const std::optional<nlohmann::json>& tokenizer_config, ModelFolder& model);

}  // namespace latebind::embedding
