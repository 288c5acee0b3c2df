// ExpressionParser: a recursive-descent parser of a template's expressions, with Jinja's operator precedence. It reads
// from a TokenReader that must outlive it. For one thread. Every function returns kInvalidModel or kUnsupported with
// the line.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/template/syntax.h"
#include "core/template/token_reader.h"

namespace latebind::templates {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader& tokens) : tokens_(tokens) {}

  [[nodiscard]] core::Result<ExpressionPtr> expression();
  // Parses an expression without a conditional `if`, which the sequence of a `for` statement cannot have.
  [[nodiscard]] core::Result<ExpressionPtr> without_condition() { return tuple(/*with_condition=*/false); }
  // Parses one expression, or several separated by commas, which form a tuple.
  [[nodiscard]] core::Result<ExpressionPtr> tuple(bool with_condition = true);
  // A name, or a place that is assigned to: several names, an attribute of a namespace.
  [[nodiscard]] core::Result<Target> target(bool with_attribute);
  // Parses the filters after "{% set x |", which apply to `filtered`.
  [[nodiscard]] core::Result<ExpressionPtr> filters(ExpressionPtr filtered);

 private:
  using Parse = core::Result<ExpressionPtr> (ExpressionParser::*)();
  [[nodiscard]] core::Result<ExpressionPtr> any_of();
  [[nodiscard]] core::Result<ExpressionPtr> all_of();
  [[nodiscard]] core::Result<ExpressionPtr> negation();
  [[nodiscard]] core::Result<ExpressionPtr> comparison();
  [[nodiscard]] core::Result<ExpressionPtr> sum();
  [[nodiscard]] core::Result<ExpressionPtr> concatenation();
  [[nodiscard]] core::Result<ExpressionPtr> product();
  [[nodiscard]] core::Result<ExpressionPtr> power();
  [[nodiscard]] core::Result<ExpressionPtr> with_sign(bool with_filter = true);
  [[nodiscard]] core::Result<ExpressionPtr> primary();
  [[nodiscard]] core::Result<ExpressionPtr> number();
  [[nodiscard]] core::Result<ExpressionPtr> list();
  [[nodiscard]] core::Result<ExpressionPtr> dictionary();
  [[nodiscard]] core::Result<ExpressionPtr> postfix(ExpressionPtr of);
  [[nodiscard]] core::Result<ExpressionPtr> attribute(ExpressionPtr of);
  [[nodiscard]] core::Result<ExpressionPtr> item(ExpressionPtr of);
  [[nodiscard]] core::Result<ExpressionPtr> call(ExpressionPtr of);
  [[nodiscard]] core::Result<ExpressionPtr> filter(ExpressionPtr of);
  [[nodiscard]] core::Result<ExpressionPtr> test(ExpressionPtr of);
  [[nodiscard]] core::Result<std::vector<GivenArgument>> arguments();
  [[nodiscard]] core::Result<ExpressionPtr> left_to_right(
      Parse next, std::initializer_list<std::pair<std::string_view, Operator>> operators);
  [[nodiscard]] core::Result<ExpressionPtr> logical(Parse next, std::string_view word, ExpressionKind kind);
  // Returns the expression with its height, or an error if it is nested too deeply.
  [[nodiscard]] core::Result<ExpressionPtr> made(Expression expression) const;

  TokenReader& tokens_;
};

}  // namespace latebind::templates
