// Finds the class that transformers makes a tokenizer of although there is a tokenizer.json. Internal to
// beside_tokenizer_json.h. Pure functions, any thread.
#pragma once

#include <string_view>

#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/making_classes.h"

namespace latebind::embedding {

struct FoundClass {
  const MakingClass* made_by = nullptr;  // null: a class that keeps the parts of tokenizer.json
  std::string_view named_in{};           // the file; empty if the kind of network alone implies it
};

[[nodiscard]] FoundClass class_beside(const BesideTokenizerJson& beside);

// Whether the class is one for SentencePiece models.
[[nodiscard]] bool makes_sentence_pieces(const FoundClass& found);

}  // namespace latebind::embedding
