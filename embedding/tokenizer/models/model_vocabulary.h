// Shared reading code of models, whose "vocab" is an object of tokens and ids, or an array of tokens and scores.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/token_model.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// Of what stands before or behind each piece of a word: it is hashed or compared with each of them.
inline constexpr std::size_t kAffixBytesMax = 512;

// Finishes the vocabulary that was read beside `model`; kInvalidModel when there is none of the kind that the model
// has, or it is empty. One with scores is found by a trie; kSteps is one of ids, found by hash states.
enum class VocabularyKind { kIds, kSteps, kScores };
[[nodiscard]] core::Status finish_vocabulary(const JsonView& model, VocabularyKind kind, ModelLists& lists);

// The id of the unknown token; kInvalidModel when the vocabulary lacks it.
[[nodiscard]] core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token);

}  // namespace latebind::embedding
