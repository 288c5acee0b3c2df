// TokenReader: reads the tokens of a template in order, and limits nesting. For one thread.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/template/lexer.h"
#include "core/template/nesting.h"
#include "core/text/quote.h"

namespace latebind::templates {

class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, std::size_t depth_max) : tokens_(std::move(tokens)), nesting_(depth_max) {}

  // Return the current token, which is kEnd at the end, and the one after it.
  [[nodiscard]] const Token& current() const { return tokens_[at_]; }
  [[nodiscard]] const Token& after() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  [[nodiscard]] std::size_t line() const { return current().line; }
  [[nodiscard]] bool is(TokenKind kind) const { return current().kind == kind; }
  [[nodiscard]] bool is_operator(std::string_view text) const { return current().is(TokenKind::kOperator, text); }
  [[nodiscard]] bool is_name(std::string_view text) const { return current().is(TokenKind::kName, text); }

  Token take() {
    Token taken = current();
    if (!is(TokenKind::kEnd)) ++at_;
    return taken;
  }
  // Consume the current token if it is this one. They return whether they did.
  bool pass_operator(std::string_view text) { return is_operator(text) && pass(); }
  bool pass_name(std::string_view text) { return is_name(text) && pass(); }
  [[nodiscard]] core::Status expect_operator(std::string_view text) {
    return pass_operator(text) ? core::Status() : unexpected(fmt::format("'{}'", text));
  }
  [[nodiscard]] core::Status expect(TokenKind kind, std::string_view what) {
    return is(kind) && (is(TokenKind::kEnd) || pass()) ? core::Status() : unexpected(what);
  }
  // Returns the error that the parser expected `wanted` instead of the current token.
  [[nodiscard]] core::Status unexpected(std::string_view wanted) const {
    const TokenKind kind = current().kind;
    const bool ends = kind == TokenKind::kPrintEnd || kind == TokenKind::kBlockEnd;
    return fault_at(line(), fmt::format("{} is expected, not {}", wanted,
                                        ends                       ? "the end of the tag"
                                        : kind == TokenKind::kEnd  ? "the end of the template"
                                        : kind == TokenKind::kText ? "text"
                                                                   : core::quoted(current().text)));
  }

  [[nodiscard]] Nesting& nesting() { return nesting_; }
  [[nodiscard]] core::Status check_depth(std::size_t depth) const {
    return nesting_.allows(depth) ? core::Status() : too_deep();
  }
  [[nodiscard]] core::Status check_depth() const { return nesting_.is_too_deep() ? too_deep() : core::Status(); }

 private:
  bool pass() {
    ++at_;
    return true;
  }
  [[nodiscard]] core::Status too_deep() const {
    return fault_at(line(), fmt::format("nested deeper than {} levels", nesting_.depth_max()));
  }

  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Nesting nesting_;
};

}  // namespace latebind::templates
