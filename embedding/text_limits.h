// TextLimits: how texts become ids, by the files of a model and by what the texts are to it.
//
// Values; pure functions, for any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/result.h"
#include "embedding/token_table.h"

namespace latebind::embedding {

struct ModelFolder;

struct TextLimits {
  TokenLimits document{};
  std::optional<TokenLimits> query = std::nullopt;  // where that makes a difference

  TextLimits() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most models have one way.
  TextLimits(TokenLimits of_all) : document(std::move(of_all)) {}

  [[nodiscard]] std::size_t longest() const {
    return query ? std::max(document.max_tokens, query->max_tokens) : document.max_tokens;
  }
};

// How many tokens texts may have: `wanted`, or with 0 what the folder says. The errors of ModelFolder::token_limit().
[[nodiscard]] core::Result<TextLimits> text_limits(const ModelFolder& folder, std::size_t wanted);

// Of a multi-vector encoder: what is done with texts of each role, by the ids of the tokens that it is about.
// kInvalidModel where its tokenizer lacks one.
[[nodiscard]] core::Status set_roles(const ModelFolder& folder, const Tokenizer& tokenizer, TextLimits& limits);

}  // namespace latebind::embedding
