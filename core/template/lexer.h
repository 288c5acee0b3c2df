// The parts of a template: text, and the words between {{ and }} and between {% and %}.
//
// White space around tags goes as transformers sets it: the line end after a block, and the spaces before a block that
// begins its line ("trim_blocks" and "lstrip_blocks"); "-" and "+" beside a tag decide for that tag. Comments and "raw"
// blocks are resolved here. A pure function, for any thread.
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
  kEnd,  // of the template
};

struct Token {
  TokenKind kind{};
  std::string text{};  // what it means: a string's content without its quotes
  std::size_t line = 1;

  [[nodiscard]] bool is(TokenKind other, std::string_view words) const { return kind == other && text == words; }
};

// Returns the tokens, of which the last is kEnd. `source` must be UTF-8. Returns kInvalidModel with the line of a
// fault.
[[nodiscard]] core::Result<std::vector<Token>> split_into_tokens(std::string_view source);

// A status about a line of a template.
[[nodiscard]] core::Status fault_at(std::size_t line, std::string_view fault,
                                    core::StatusCode code = core::StatusCode::kInvalidModel);

}  // namespace latebind::templates
