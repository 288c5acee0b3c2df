// Reading code shared by models, whose "vocab" is an object of tokens and ids, or an array of tokens and scores. Any
// thread.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/token_model.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// The limit for texts before or after each piece of a word, which are hashed or compared with each piece.
inline constexpr std::size_t kAffixBytesMax = 512;

// Finishes the vocabulary that was read with `model`. Returns kInvalidModel if it is empty or of another kind. kScores
// is searched with a trie; kSteps is a vocabulary of ids that is searched by hash states.
enum class VocabularyKind { kIds, kSteps, kScores };
[[nodiscard]] core::Status finish_vocabulary(const JsonView& model, VocabularyKind kind, ModelLists& lists);

// The id of the unknown token; kInvalidModel if the vocabulary lacks it.
[[nodiscard]] core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token);

}  // namespace latebind::embedding
