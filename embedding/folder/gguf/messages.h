// Errors about the files that are generated from a GGUF file, in terms of that file: "m.gguf/config.json: 'hidden_size'
// is 0" becomes "m.gguf: 'bert.embedding_length' is 0". Pure functions; any thread may call them.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::embedding {

// `file` is the GGUF file as messages name it, and `generated` the name of a generated file. Returns the status
// unchanged if its message does not name the generated file.
[[nodiscard]] core::Status in_gguf_terms(const core::Status& status, std::string_view file, std::string_view generated,
                                         std::string_view architecture);

}  // namespace latebind::embedding
