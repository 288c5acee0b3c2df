#include "core/template/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

Expression expression_of(ExpressionKind kind, std::size_t line, ExpressionPtr a = nullptr, ExpressionPtr b = nullptr) {
  Expression expression{.kind = kind, .line = line};
  if (a != nullptr) expression.parts.push_back(std::move(a));
  if (b != nullptr) expression.parts.push_back(std::move(b));
  return expression;
}

Expression constant_of(Value value, std::size_t line) {
  Expression expression{.kind = ExpressionKind::kConstant, .line = line};
  expression.constant = std::move(value);
  return expression;
}

std::optional<Value> named_constant(std::string_view name) {
  if (name == "true" || name == "True") return Value::boolean(true);
  if (name == "false" || name == "False") return Value::boolean(false);
  if (name == "none" || name == "None") return Value::none();
  return std::nullopt;
}

}  // namespace

Result<ExpressionPtr> ExpressionParser::made(Expression expression) const {
  std::size_t height = 0;
  for (const ExpressionPtr& part : expression.parts)
    height = std::max(height, part == nullptr ? 0 : part->height);
  for (const GivenArgument& argument : expression.arguments)
    height = std::max(height, argument.value->height);
  expression.height = height + 1;
  LB_RETURN_IF_ERROR(tokens_.check_depth(expression.height));
  return ExpressionPtr(std::make_unique<const Expression>(std::move(expression)));
}

Result<ExpressionPtr> ExpressionParser::expression() {
  const Nesting::Level level(tokens_.nesting());
  LB_RETURN_IF_ERROR(tokens_.check_depth());
  LB_ASSIGN_OR_RETURN(ExpressionPtr value, any_of());
  while (tokens_.is_name("if")) {
    const std::size_t line = tokens_.take().line;
    LB_ASSIGN_OR_RETURN(ExpressionPtr condition, any_of());
    ExpressionPtr otherwise;
    if (tokens_.pass_name("else")) {
      LB_ASSIGN_OR_RETURN(otherwise, expression());
    }
    Expression choice = expression_of(ExpressionKind::kCondition, line, std::move(value), std::move(condition));
    choice.parts.push_back(std::move(otherwise));
    LB_ASSIGN_OR_RETURN(value, made(std::move(choice)));
  }
  return value;
}

Result<ExpressionPtr> ExpressionParser::tuple(bool with_condition) {
  const std::size_t line = tokens_.line();
  Expression several = expression_of(ExpressionKind::kTuple, line);
  bool has_comma = false;
  while (true) {
    if (has_comma && (tokens_.is(TokenKind::kBlockEnd) || tokens_.is(TokenKind::kPrintEnd) ||
                      tokens_.is_operator(")") || tokens_.is_name("if")))
      break;
    LB_ASSIGN_OR_RETURN(ExpressionPtr one, with_condition ? expression() : any_of());
    several.parts.push_back(std::move(one));
    if (!tokens_.pass_operator(",")) break;
    has_comma = true;
  }
  if (!has_comma) return std::move(several.parts.front());
  return made(std::move(several));
}

Result<ExpressionPtr> ExpressionParser::logical(Parse next, std::string_view word, ExpressionKind kind) {
  LB_ASSIGN_OR_RETURN(ExpressionPtr left, (this->*next)());
  while (tokens_.is_name(word)) {
    const std::size_t line = tokens_.take().line;
    LB_ASSIGN_OR_RETURN(ExpressionPtr right, (this->*next)());
    LB_ASSIGN_OR_RETURN(left, made(expression_of(kind, line, std::move(left), std::move(right))));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::any_of() {
  return logical(&ExpressionParser::all_of, "or", ExpressionKind::kOr);
}

Result<ExpressionPtr> ExpressionParser::all_of() {
  return logical(&ExpressionParser::negation, "and", ExpressionKind::kAnd);
}

Result<ExpressionPtr> ExpressionParser::negation() {
  if (!tokens_.is_name("not")) return comparison();
  const Nesting::Level level(tokens_.nesting());
  LB_RETURN_IF_ERROR(tokens_.check_depth());
  const std::size_t line = tokens_.take().line;
  LB_ASSIGN_OR_RETURN(ExpressionPtr negated, negation());
  return made(expression_of(ExpressionKind::kNot, line, std::move(negated)));
}

Result<ExpressionPtr> ExpressionParser::comparison() {
  struct Named {
    std::string_view text;
    Operator meaning;
  };
  constexpr std::array<Named, 6> kComparisons{{{"==", Operator::kEqual},
                                               {"!=", Operator::kNotEqual},
                                               {"<=", Operator::kLessOrEqual},
                                               {">=", Operator::kGreaterOrEqual},
                                               {"<", Operator::kLess},
                                               {">", Operator::kGreater}}};
  LB_ASSIGN_OR_RETURN(ExpressionPtr first, sum());
  Expression compared = expression_of(ExpressionKind::kCompare, tokens_.line(), std::move(first));
  while (true) {
    const auto* const found =
        std::ranges::find_if(kComparisons, [&](const Named& one) { return tokens_.is_operator(one.text); });
    if (found != kComparisons.end()) {
      tokens_.take();
      compared.operators.push_back(found->meaning);
    } else if (tokens_.pass_name("in")) {
      compared.operators.push_back(Operator::kIn);
    } else if (tokens_.is_name("not") && tokens_.after().is(TokenKind::kName, "in")) {
      tokens_.take();
      tokens_.take();
      compared.operators.push_back(Operator::kNotIn);
    } else {
      break;
    }
    LB_ASSIGN_OR_RETURN(ExpressionPtr next, sum());
    compared.parts.push_back(std::move(next));
  }
  if (compared.operators.empty()) return std::move(compared.parts.front());
  return made(std::move(compared));
}

Result<ExpressionPtr> ExpressionParser::left_to_right(
    Parse next, std::initializer_list<std::pair<std::string_view, Operator>> operators) {
  LB_ASSIGN_OR_RETURN(ExpressionPtr left, (this->*next)());
  while (true) {
    const auto* const found =
        std::ranges::find_if(operators, [&](const auto& one) { return tokens_.is_operator(one.first); });
    if (found == operators.end()) return left;
    const std::size_t line = tokens_.take().line;
    LB_ASSIGN_OR_RETURN(ExpressionPtr right, (this->*next)());
    Expression both = expression_of(ExpressionKind::kBinary, line, std::move(left), std::move(right));
    both.operators.push_back(found->second);
    LB_ASSIGN_OR_RETURN(left, made(std::move(both)));
  }
}

Result<ExpressionPtr> ExpressionParser::sum() {
  return left_to_right(&ExpressionParser::concatenation, {{"+", Operator::kAdd}, {"-", Operator::kSubtract}});
}

Result<ExpressionPtr> ExpressionParser::concatenation() {
  LB_ASSIGN_OR_RETURN(ExpressionPtr first, product());
  Expression joined = expression_of(ExpressionKind::kConcat, tokens_.line(), std::move(first));
  while (tokens_.pass_operator("~")) {
    LB_ASSIGN_OR_RETURN(ExpressionPtr next, product());
    joined.parts.push_back(std::move(next));
  }
  if (joined.parts.size() == 1) return std::move(joined.parts.front());
  return made(std::move(joined));
}

Result<ExpressionPtr> ExpressionParser::product() {
  return left_to_right(
      &ExpressionParser::power,
      {{"*", Operator::kMultiply}, {"/", Operator::kDivide}, {"//", Operator::kFloorDivide}, {"%", Operator::kModulo}});
}

Result<ExpressionPtr> ExpressionParser::power() {
  LB_ASSIGN_OR_RETURN(ExpressionPtr base, with_sign());
  if (!tokens_.is_operator("**")) return base;
  return fault_at(tokens_.line(), "the operator '**' is not supported", StatusCode::kUnsupported);
}

Result<ExpressionPtr> ExpressionParser::with_sign(bool with_filter) {
  ExpressionPtr value;
  if (tokens_.is_operator("-") || tokens_.is_operator("+")) {
    const Nesting::Level level(tokens_.nesting());
    LB_RETURN_IF_ERROR(tokens_.check_depth());
    const Token sign = tokens_.take();
    LB_ASSIGN_OR_RETURN(ExpressionPtr number, with_sign(/*with_filter=*/false));
    const auto kind = sign.text == "-" ? ExpressionKind::kNegative : ExpressionKind::kPositive;
    LB_ASSIGN_OR_RETURN(value, made(expression_of(kind, sign.line, std::move(number))));
  } else {
    LB_ASSIGN_OR_RETURN(value, primary());
  }
  LB_ASSIGN_OR_RETURN(value, postfix(std::move(value)));
  return with_filter ? filters(std::move(value)) : std::move(value);
}

Result<ExpressionPtr> ExpressionParser::number() {
  const Token token = tokens_.take();
  const char* const end = token.text.data() + token.text.size();
  if (token.kind == TokenKind::kFloat) {
    double number = 0;
    const auto [stop, error] = std::from_chars(token.text.data(), end, number);
    if (error != std::errc() || stop != end) {
      return fault_at(token.line, fmt::format("{} is not a 64-bit number", core::quoted(token.text)));
    }
    return made(constant_of(Value::number(number), token.line));
  }
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(token.text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return fault_at(token.line, fmt::format("{} is not a 64-bit integer", core::quoted(token.text)),
                    StatusCode::kUnsupported);
  }
  return made(constant_of(Value::integer(number), token.line));
}

Result<ExpressionPtr> ExpressionParser::primary() {
  const std::size_t line = tokens_.line();
  if (tokens_.is(TokenKind::kName)) {
    const Token name = tokens_.take();
    if (auto constant = named_constant(name.text)) return made(constant_of(*std::move(constant), line));
    Expression named = expression_of(ExpressionKind::kName, line);
    named.name = name.text;
    return made(std::move(named));
  }
  if (tokens_.is(TokenKind::kString)) {
    // Adjacent string literals are concatenated.
    std::string text;
    while (tokens_.is(TokenKind::kString))
      text += tokens_.take().text;
    return made(constant_of(Value::text(std::move(text)), line));
  }
  if (tokens_.is(TokenKind::kInteger) || tokens_.is(TokenKind::kFloat)) return number();
  if (tokens_.is_operator("[")) return list();
  if (tokens_.is_operator("{")) return dictionary();
  if (!tokens_.pass_operator("(")) return tokens_.unexpected("an expression");
  if (tokens_.pass_operator(")")) return made(expression_of(ExpressionKind::kTuple, line));
  LB_ASSIGN_OR_RETURN(ExpressionPtr inner, tuple());
  LB_RETURN_IF_ERROR(tokens_.expect_operator(")"));
  return inner;
}

Result<ExpressionPtr> ExpressionParser::list() {
  Expression items = expression_of(ExpressionKind::kList, tokens_.take().line);
  while (!tokens_.pass_operator("]")) {
    if (!items.parts.empty()) {
      LB_RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.pass_operator("]")) break;
    }
    LB_ASSIGN_OR_RETURN(ExpressionPtr next, expression());
    items.parts.push_back(std::move(next));
  }
  return made(std::move(items));
}

Result<ExpressionPtr> ExpressionParser::dictionary() {
  Expression members = expression_of(ExpressionKind::kDict, tokens_.take().line);
  while (!tokens_.pass_operator("}")) {
    if (!members.parts.empty()) {
      LB_RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.pass_operator("}")) break;
    }
    LB_ASSIGN_OR_RETURN(ExpressionPtr key, expression());
    LB_RETURN_IF_ERROR(tokens_.expect_operator(":"));
    LB_ASSIGN_OR_RETURN(ExpressionPtr value, expression());
    members.parts.push_back(std::move(key));
    members.parts.push_back(std::move(value));
  }
  return made(std::move(members));
}

}  // namespace latebind::templates
