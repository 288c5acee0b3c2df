// Parses the expressions of a template: operators by their precedence, as Jinja has it. For one thread.
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
  // An expression without an `if` of its own: a part of `for`.
  [[nodiscard]] core::Result<ExpressionPtr> without_condition() { return tuple(/*with_condition=*/false); }
  // One or, separated by commas, several expressions.
  [[nodiscard]] core::Result<ExpressionPtr> tuple(bool with_condition = true);
  // A name, or a place that is assigned to: several names, an attribute of a namespace.
  [[nodiscard]] core::Result<Target> target(bool with_attribute);
  // The filters after "{% set x |".
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
  // The expression, with the height of its parts.
  [[nodiscard]] core::Result<ExpressionPtr> made(Expression expression) const;

  TokenReader& tokens_;
};

}  // namespace latebind::templates
