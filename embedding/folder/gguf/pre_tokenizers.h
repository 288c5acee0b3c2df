// The pre-tokenizers that GGUF names in "tokenizer.ggml.pre": how a text is split before its bytes are merged.
//
// Source: llama.cpp's table of names; the patterns are those of the models' own tokenizers. Pure functions; any
// thread may call them.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace latebind::embedding {

struct GgufPreTokenizer {
  std::string_view name{};
  // Regular expressions, applied in order. Each splits the pieces of the previous one into its matches and the text
  // between them. The list ends at the first empty pattern.
  std::array<std::string_view, 4> patterns{};
  bool is_composed = false;         // texts are normalized to NFC first
  bool takes_whole_pieces = false;  // a piece that is a token is not merged
  bool adds_bos = false;            // unless the file says otherwise
};

// Returns null for an unknown name.
[[nodiscard]] const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name);
[[nodiscard]] std::vector<std::string_view> gguf_pre_tokenizer_names();

}  // namespace latebind::embedding
