// Finds the class with which transformers makes a tokenizer although there is a tokenizer.json. Internal to
// beside_tokenizer_json.h. Pure functions; any thread may call them.
#pragma once

#include <string_view>

#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/making_classes.h"

namespace latebind::embedding {

struct FoundClass {
  const MakingClass* made_by = nullptr;  // null: a class that keeps the parts of tokenizer.json
  std::string_view named_in{};           // the file that names the class; empty if the network's type implies it
};

[[nodiscard]] FoundClass class_beside(const BesideTokenizerJson& beside);

// Returns whether the class is for SentencePiece models.
[[nodiscard]] bool makes_sentence_pieces(const FoundClass& found);

}  // namespace latebind::embedding
