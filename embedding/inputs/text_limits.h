// TextLimits: how texts become ids, by a model's files and by the role of the texts.
//
// Values and pure functions; safe for concurrent use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/result.h"
#include "embedding/inputs/text_role.h"
#include "embedding/inputs/token_table.h"

namespace latebind::embedding {

struct Specification;
struct Prompts;
struct TextOptions;

struct TextLimits {
  TokenLimits document{};
  std::optional<TokenLimits> query = std::nullopt;  // set if queries are treated differently

  TextLimits() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most models treat all texts alike.
  TextLimits(TokenLimits of_all) : document(std::move(of_all)) {}

  [[nodiscard]] std::size_t longest() const {
    return query ? std::max(document.max_tokens, query->max_tokens) : document.max_tokens;
  }
  [[nodiscard]] const TokenLimits& of(TextRole role) const {
    return role == TextRole::kQuery && query ? *query : document;
  }
  // Returns the limits of a call with these options; their max_tokens may be any number. Returns kInvalidArgument for
  // fewer tokens than queries are filled up to, and the errors of Prompts::choose().
  [[nodiscard]] core::Result<TokenLimits> of_call(const TextOptions& options, const Prompts& prompts) const;
};

// Returns the limits of texts with at most `wanted` tokens, or with the model's limit if `wanted` is 0. Returns the
// errors of Specification::token_limit().
[[nodiscard]] core::Result<TextLimits> text_limits(const Specification& model, std::size_t wanted);

// The same with set_roles(), for users of the tokenizer alone.
[[nodiscard]] core::Result<TextLimits> text_limits(const Specification& model, const Tokenizer& tokenizer,
                                                   std::size_t wanted = 0);

// Adds the model's treatment of each role, with the ids of the tokens concerned. Changes nothing if the model treats
// all texts alike. Returns kInvalidModel if the tokenizer lacks the token that fills up queries.
[[nodiscard]] core::Status set_roles(const Specification& model, const Tokenizer& tokenizer, TextLimits& limits);

}  // namespace latebind::embedding
