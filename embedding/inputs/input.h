// Input: a kind of input that a model takes, such as a text or a pair of texts. inputs.cpp has the only list of kinds.
//
// An input becomes a row of the network: token ids within the model's limits, after its prompts (TokenTable::add()).
// The entries are constants; safe for concurrent use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "embedding/inputs/token_table.h"

namespace latebind::embedding {

struct Input {
  std::string_view name;  // "text"
  std::string_view list;  // the name of a list of them in errors: texts[3]
};

[[nodiscard]] std::span<const Input* const> inputs();
extern const Input kTextInput;
extern const Input kPairInput;

// The token ids of a text, special tokens included.
using Ids = std::span<const std::int32_t>;
// A list of inputs of one kind, as a caller gives it: views, which must outlive the call. Ids are texts that have been
// tokenized.
using InputList = std::variant<std::span<const std::string_view>, std::span<const TextPair>, std::span<const Ids>>;

}  // namespace latebind::embedding
