// A folder whose texts are weighed by a table, without a network. Internal to ModelFolder.
#pragma once

#include "core/result.h"
#include "embedding/model_folder.h"
#include "embedding/modules.h"

namespace latebind::embedding {

// The sparse encoder that the modules say. kNotFound, kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<ModelFolder> read_term_table(ModelFiles given, const Modules& modules);

}  // namespace latebind::embedding
