// Generates a tokenizer.json from a GGUF file's metadata, with the results of the tokenizer from which the file was
// converted.
//
// Source: llama.cpp's converter and vocabularies; transformers' tokenizers for the parts of each kind. Pure
// functions; any thread may call them.
#pragma once

#include <string>

#include "core/result.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

// `is_decoder` is true for decoders, whose texts get special tokens only if the metadata says so. Returns kInvalidModel
// or kUnsupported, naming the key.
[[nodiscard]] core::Result<std::string> gguf_tokenizer_json(const GgufHeader& header, bool is_decoder);
// Returns the tokenizer_config.json that belongs to it.
[[nodiscard]] std::string gguf_tokenizer_config(bool is_decoder);

}  // namespace latebind::embedding
