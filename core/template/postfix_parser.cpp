// The part of ExpressionParser for what follows a value (attributes, items, calls, filters and tests), and for targets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/template/expression_parser.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

Result<ExpressionPtr> ExpressionParser::postfix(ExpressionPtr of) {
  while (true) {
    if (tokens_.is_operator(".")) {
      LB_ASSIGN_OR_RETURN(of, attribute(std::move(of)));
    } else if (tokens_.is_operator("[")) {
      LB_ASSIGN_OR_RETURN(of, item(std::move(of)));
    } else if (tokens_.is_operator("(")) {
      LB_ASSIGN_OR_RETURN(of, call(std::move(of)));
    } else {
      return of;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::attribute(ExpressionPtr of) {
  const std::size_t line = tokens_.take().line;
  if (tokens_.is(TokenKind::kInteger)) {
    LB_ASSIGN_OR_RETURN(ExpressionPtr index, number());
    Expression found{.kind = ExpressionKind::kItem, .line = line};
    found.parts.push_back(std::move(of));
    found.parts.push_back(std::move(index));
    return made(std::move(found));
  }
  if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of an attribute");
  Expression found{.kind = ExpressionKind::kAttribute, .line = line};
  found.name = tokens_.take().text;
  found.parts.push_back(std::move(of));
  return made(std::move(found));
}

Result<ExpressionPtr> ExpressionParser::item(ExpressionPtr of) {
  const std::size_t line = tokens_.take().line;
  const auto bound = [this]() -> Result<ExpressionPtr> {
    if (tokens_.is_operator(":") || tokens_.is_operator("]")) return ExpressionPtr();
    return expression();
  };
  LB_ASSIGN_OR_RETURN(ExpressionPtr first, bound());
  Expression found{.kind = ExpressionKind::kItem, .line = line};
  found.parts.push_back(std::move(of));
  found.parts.push_back(std::move(first));
  if (tokens_.pass_operator(":")) {
    found.kind = ExpressionKind::kSlice;
    LB_ASSIGN_OR_RETURN(ExpressionPtr end, bound());
    ExpressionPtr step;
    if (tokens_.pass_operator(":")) {
      LB_ASSIGN_OR_RETURN(step, bound());
    }
    found.parts.push_back(std::move(end));
    found.parts.push_back(std::move(step));
  } else if (found.parts.back() == nullptr) {
    return tokens_.unexpected("an expression");
  }
  if (tokens_.is_operator(",")) {
    return fault_at(line, "several keys in one subscript are not supported", StatusCode::kUnsupported);
  }
  LB_RETURN_IF_ERROR(tokens_.expect_operator("]"));
  return made(std::move(found));
}

Result<std::vector<GivenArgument>> ExpressionParser::arguments() {
  std::vector<GivenArgument> given;
  LB_RETURN_IF_ERROR(tokens_.expect_operator("("));
  while (!tokens_.pass_operator(")")) {
    if (!given.empty()) {
      LB_RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (tokens_.pass_operator(")")) break;
    }
    if (tokens_.is_operator("*") || tokens_.is_operator("**")) {
      return fault_at(tokens_.line(), "'*' and '**' before arguments are not supported", StatusCode::kUnsupported);
    }
    GivenArgument argument;
    if (tokens_.is(TokenKind::kName) && tokens_.after().is(TokenKind::kOperator, "=")) {
      argument.name = tokens_.take().text;
      tokens_.take();
    } else if (!given.empty() && !given.back().name.empty()) {
      return fault_at(tokens_.line(), "an argument without a name follows one with a name");
    }
    LB_ASSIGN_OR_RETURN(argument.value, expression());
    given.push_back(std::move(argument));
  }
  return given;
}

Result<ExpressionPtr> ExpressionParser::call(ExpressionPtr of) {
  Expression called{.kind = ExpressionKind::kCall, .line = tokens_.line()};
  called.parts.push_back(std::move(of));
  LB_ASSIGN_OR_RETURN(called.arguments, arguments());
  return made(std::move(called));
}

Result<ExpressionPtr> ExpressionParser::filters(ExpressionPtr filtered) {
  while (true) {
    if (tokens_.is_operator("|")) {
      LB_ASSIGN_OR_RETURN(filtered, filter(std::move(filtered)));
    } else if (tokens_.is_name("is")) {
      LB_ASSIGN_OR_RETURN(filtered, test(std::move(filtered)));
    } else if (tokens_.is_operator("(")) {
      LB_ASSIGN_OR_RETURN(filtered, call(std::move(filtered)));
    } else {
      return filtered;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::filter(ExpressionPtr of) {
  Expression applied{.kind = ExpressionKind::kFilter, .line = tokens_.take().line};
  applied.parts.push_back(std::move(of));
  if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of a filter");
  applied.name = tokens_.take().text;
  if (tokens_.is_operator("(")) {
    LB_ASSIGN_OR_RETURN(applied.arguments, arguments());
  }
  return made(std::move(applied));
}

Result<ExpressionPtr> ExpressionParser::test(ExpressionPtr of) {
  constexpr std::array<std::string_view, 3> kNoArgument{"else", "or", "and"};
  const std::size_t line = tokens_.take().line;
  const bool negated = tokens_.pass_name("not");
  Expression applied{.kind = ExpressionKind::kTest, .line = line};
  applied.parts.push_back(std::move(of));
  if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of a test");
  applied.name = tokens_.take().text;
  const Token& next = tokens_.current();
  const bool begins_value =
      next.kind == TokenKind::kString || next.kind == TokenKind::kInteger || next.kind == TokenKind::kFloat ||
      tokens_.is_operator("[") || tokens_.is_operator("{") ||
      (next.kind == TokenKind::kName && std::ranges::find(kNoArgument, next.text) == kNoArgument.end());
  if (tokens_.is_operator("(")) {
    LB_ASSIGN_OR_RETURN(applied.arguments, arguments());
  } else if (begins_value) {
    if (tokens_.is_name("is")) return fault_at(line, "several tests with 'is' follow each other");
    GivenArgument argument;
    LB_ASSIGN_OR_RETURN(argument.value, primary());
    LB_ASSIGN_OR_RETURN(argument.value, postfix(std::move(argument.value)));
    applied.arguments.push_back(std::move(argument));
  }
  LB_ASSIGN_OR_RETURN(ExpressionPtr tested, made(std::move(applied)));
  if (!negated) return tested;
  Expression opposite{.kind = ExpressionKind::kNot, .line = line};
  opposite.parts.push_back(std::move(tested));
  return made(std::move(opposite));
}

Result<Target> ExpressionParser::target(bool with_attribute) {
  const Nesting::Level level(tokens_.nesting());
  LB_RETURN_IF_ERROR(tokens_.check_depth());
  Target several;
  bool has_comma = false;
  const bool is_enclosed = tokens_.pass_operator("(");
  while (true) {
    if (has_comma && !tokens_.is(TokenKind::kName) && !tokens_.is_operator("(")) break;
    Target one;
    if (tokens_.is_operator("(")) {
      LB_ASSIGN_OR_RETURN(one, target(false));
    } else if (!tokens_.is(TokenKind::kName)) {
      return tokens_.unexpected("a name");
    } else {
      one.name = tokens_.take().text;
      constexpr std::array<std::string_view, 6> kConstants{"true", "True", "false", "False", "none", "None"};
      if (std::ranges::find(kConstants, one.name) != kConstants.end()) {
        return fault_at(tokens_.line(), fmt::format("cannot assign to '{}'", one.name));
      }
      if (with_attribute && tokens_.pass_operator(".")) {
        if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of an attribute");
        one.attribute = tokens_.take().text;
      }
    }
    several.parts.push_back(std::move(one));
    if (tokens_.is_name("in") || !tokens_.pass_operator(",")) break;
    has_comma = true;
  }
  if (is_enclosed) LB_RETURN_IF_ERROR(tokens_.expect_operator(")"));
  if (!has_comma) {
    Target only = std::move(several.parts.front());
    return only;
  }
  return several;
}

}  // namespace latebind::templates
