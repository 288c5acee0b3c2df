// What a model folder says of prompts and of the lengths of vectors. Internal to ModelFolder.
#pragma once

#include <optional>

#include "core/json.h"
#include "core/status.h"
#include "embedding/encoder_kind.h"
#include "embedding/modules.h"

namespace latebind::embedding {

struct ModelFolder;

// What may be asked for besides the model's own vectors; `first` is config.json beside modules.json.
void read_extras(const ConfigFile& own, const std::optional<nlohmann::json>& first, ModelFolder& model);

// What happens to texts and vectors unless a call says otherwise. `takes_weights`: Latebind builds the network itself.
// kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Status read_defaults(const Modules& modules, const ConfigFile& own, bool takes_weights,
                                         ModelFolder& model);

}  // namespace latebind::embedding
