// The tokenizer of a GGUF file as a tokenizer.json, made from the file's metadata, with the same results as the
// tokenizer that the file's own was converted from.
//
// Source: llama.cpp's converter and vocabularies; transformers' tokenizers for the parts of each kind. Pure function;
// any thread.
#pragma once

#include <string>

#include "core/result.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

// `is_decoder` says of the network whether special tokens are around a text only if the file demands them. Returns
// kInvalidModel and kUnsupported, naming the key.
[[nodiscard]] core::Result<std::string> gguf_tokenizer_json(const GgufHeader& header, bool is_decoder);
// The tokenizer_config.json for it.
[[nodiscard]] std::string gguf_tokenizer_config(bool is_decoder);

}  // namespace latebind::embedding
