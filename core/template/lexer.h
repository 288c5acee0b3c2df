// Splits a template into tokens: text, and the tokens between {{ and }} and between {% and %}.
//
// White space around tags is removed with the options that transformers sets, "trim_blocks" and "lstrip_blocks": the
// line end after a block, and the spaces before a block that begins its line. "-" and "+" override them for one tag.
// Comments and "raw" blocks are resolved here. A pure function, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::templates {

enum class TokenKind : std::uint8_t {
  kText,
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,  // the end of the template
};

struct Token {
  TokenKind kind{};
  std::string text{};  // the source text; for kString, the content without quotes and escapes
  std::size_t line = 1;

  [[nodiscard]] bool is(TokenKind other, std::string_view words) const { return kind == other && text == words; }
};

// Returns the tokens; the last one is kEnd. `source` must be UTF-8. Returns kInvalidModel, naming the line.
[[nodiscard]] core::Result<std::vector<Token>> split_into_tokens(std::string_view source);

// Returns an error about a line of a template.
[[nodiscard]] core::Status fault_at(std::size_t line, std::string_view fault,
                                    core::StatusCode code = core::StatusCode::kInvalidModel);

}  // namespace latebind::templates
