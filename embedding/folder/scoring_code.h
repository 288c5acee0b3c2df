// Rerankers that are language models, and whose folders have no list of modules: code beside the weights, or a library
// that the model's card names, makes a score of two texts. Latebind knows what that code does.
//
// Source: modeling_zeranker.py of zeroentropy/zerank-1-small, and FlagEmbedding's FlagLLMReranker. Values of static
// storage, and pure functions of the files; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"
#include "embedding/inputs/pair_frame.h"

namespace latebind::embedding {

struct FolderContents;
struct Modules;

// How the chat template carries two texts, if not as messages with the roles "query" and "document".
struct ScoringTemplate {
  std::string_view query_role;
  std::string_view document_role;
  std::size_t query_characters = 0;  // of each text, this many are read; white space around them is not
  std::size_t document_characters = 0;
};

struct ScoringCode {
  std::string_view name;
  std::string_view file;  // the file that names the code
  // The score is the logit of this word's first token or, with a temperature, the sigmoid of the logit divided by it.
  std::string_view true_word;
  std::optional<float> temperature = std::nullopt;
  // Otherwise a question follows the texts (question_frame.h).
  std::optional<ScoringTemplate> chat = std::nullopt;
};

// Returns the code that config.json (`config`) or the card names for a language model; null if they name none.
[[nodiscard]] const ScoringCode* find_scoring_code(const ModelFiles& files, const core::Json& config);

// The code with what depends on the tokenizer.
struct KnownScoring {
  const ScoringCode* code = nullptr;
  std::uint32_t true_token = 0;
  std::shared_ptr<const PairFrame> frame{};
  std::optional<std::size_t> max_tokens = std::nullopt;  // std::nullopt: all positions
};
// Opens the tokenizer. Returns kUnsupported, naming the file, if it has no token for the word, or if the model has no
// chat template but needs one; and the errors of the tokenizer.
[[nodiscard]] core::Result<KnownScoring> read_known_scoring(const ModelFiles& files, const Modules& modules,
                                                            const FolderContents& contents);
// One line for people: the assumption about how the model scores.
[[nodiscard]] std::string say_scoring(const ScoringCode& code);

}  // namespace latebind::embedding
