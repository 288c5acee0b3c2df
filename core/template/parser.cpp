#include "core/template/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "core/template/expression_parser.h"
#include "core/template/token_reader.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

using Words = std::span<const std::string_view>;

// Statements of Jinja that no chat template needs.
constexpr std::array<std::string_view, 13> kRefusedStatements{"block", "extends",    "include",  "import", "from",
                                                              "call",  "filter",     "with",     "do",     "trans",
                                                              "debug", "autoescape", "pluralize"};

class StatementParser {
 public:
  explicit StatementParser(TokenReader& tokens) : tokens_(tokens), expressions_(tokens) {}

  // Parses statements up to a block that begins with one of these words, which is not consumed, or, without words, to
  // the end of the template.
  Result<Body> body(Words ends, std::size_t begin_line) {
    const Nesting::Level level(tokens_.nesting());
    LB_RETURN_IF_ERROR(tokens_.check_depth());
    Body statements;
    while (!tokens_.is(TokenKind::kEnd)) {
      if (tokens_.is(TokenKind::kBlockBegin) && tokens_.after().kind == TokenKind::kName &&
          std::ranges::find(ends, tokens_.after().text) != ends.end())
        return statements;
      LB_ASSIGN_OR_RETURN(Statement next, statement());
      statements.push_back(std::move(next));
    }
    if (ends.empty()) return statements;
    return fault_at(begin_line, fmt::format("a block has no end: '{}' is missing", ends.back()));
  }

 private:
  Result<Statement> statement() {
    Statement read{.line = tokens_.line()};
    if (tokens_.is(TokenKind::kText)) {
      read.kind = StatementKind::kText;
      read.text = tokens_.take().text;
      return read;
    }
    if (tokens_.is(TokenKind::kPrintBegin)) {
      tokens_.take();
      read.kind = StatementKind::kPrint;
      LB_ASSIGN_OR_RETURN(read.expression, expressions_.tuple());
      LB_RETURN_IF_ERROR(tokens_.expect(TokenKind::kPrintEnd, "'}}'"));
      return read;
    }
    LB_RETURN_IF_ERROR(tokens_.expect(TokenKind::kBlockBegin, "a tag"));
    if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of a statement");
    const std::string word = tokens_.take().text;
    LB_RETURN_IF_ERROR(read_block(word, read));
    return read;
  }

  Status read_block(std::string_view word, Statement& read) {
    if (word == "if") return read_if(read);
    if (word == "for") return read_for(read);
    if (word == "set") return read_set(read);
    if (word == "macro") return read_macro(read);
    if (word == "generation") {
      static constexpr std::array<std::string_view, 1> kEnd{"endgeneration"};
      read.kind = StatementKind::kScope;
      LB_RETURN_IF_ERROR(end_of_block());
      LB_RETURN_IF_ERROR(read_branch(kEnd, nullptr, read));
      return pass_end();
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) return fault_at(read.line, fmt::format("'{}' outside of a loop", word));
      read.kind = word == "break" ? StatementKind::kBreak : StatementKind::kContinue;
      return end_of_block();
    }
    if (std::ranges::find(kRefusedStatements, word) != kRefusedStatements.end()) {
      return fault_at(read.line, fmt::format("the statement '{}' is not supported", word), StatusCode::kUnsupported);
    }
    return fault_at(read.line, fmt::format("{} is not a statement here", core::quoted(word)));
  }

  Status end_of_block() { return tokens_.expect(TokenKind::kBlockEnd, "'%}'"); }
  // Consumes "{% endfor %}", or the end of another block.
  Status pass_end() {
    tokens_.take();
    tokens_.take();
    return end_of_block();
  }
  Status read_branch(Words ends, ExpressionPtr condition, Statement& read) {
    LB_ASSIGN_OR_RETURN(Body statements, body(ends, read.line));
    read.branches.push_back({.condition = std::move(condition), .body = std::move(statements)});
    return {};
  }

  Status read_if(Statement& read) {
    static constexpr std::array<std::string_view, 3> kEnds{"elif", "else", "endif"};
    static constexpr std::array<std::string_view, 1> kEnd{"endif"};
    read.kind = StatementKind::kIf;
    while (true) {
      LB_ASSIGN_OR_RETURN(ExpressionPtr condition, expressions_.without_condition());
      LB_RETURN_IF_ERROR(end_of_block());
      LB_RETURN_IF_ERROR(read_branch(kEnds, std::move(condition), read));
      if (!tokens_.after().is(TokenKind::kName, "elif")) break;
      tokens_.take();
      tokens_.take();
    }
    if (tokens_.after().is(TokenKind::kName, "else")) {
      LB_RETURN_IF_ERROR(pass_end());
      LB_RETURN_IF_ERROR(read_branch(kEnd, nullptr, read));
    }
    return pass_end();
  }

  Status read_for(Statement& read) {
    static constexpr std::array<std::string_view, 2> kEnds{"else", "endfor"};
    static constexpr std::array<std::string_view, 1> kEnd{"endfor"};
    read.kind = StatementKind::kFor;
    LB_ASSIGN_OR_RETURN(read.target, expressions_.target(/*with_attribute=*/false));
    if (!tokens_.pass_name("in")) return tokens_.unexpected("'in'");
    LB_ASSIGN_OR_RETURN(read.expression, expressions_.without_condition());
    if (tokens_.pass_name("if")) {
      LB_ASSIGN_OR_RETURN(read.condition, expressions_.expression());
    }
    if (tokens_.is_name("recursive")) {
      return fault_at(read.line, "a loop that is 'recursive' is not supported", StatusCode::kUnsupported);
    }
    LB_RETURN_IF_ERROR(end_of_block());
    ++loops_;
    LB_RETURN_IF_ERROR(read_branch(kEnds, nullptr, read));
    --loops_;
    if (tokens_.after().is(TokenKind::kName, "else")) {
      LB_RETURN_IF_ERROR(pass_end());
      LB_RETURN_IF_ERROR(read_branch(kEnd, nullptr, read));
    }
    return pass_end();
  }

  Status read_set(Statement& read) {
    static constexpr std::array<std::string_view, 1> kEnd{"endset"};
    LB_ASSIGN_OR_RETURN(read.target, expressions_.target(/*with_attribute=*/true));
    if (tokens_.pass_operator("=")) {
      read.kind = StatementKind::kSet;
      LB_ASSIGN_OR_RETURN(read.expression, expressions_.tuple());
      return end_of_block();
    }
    read.kind = StatementKind::kSetBlock;
    if (!read.target.parts.empty()) return fault_at(read.line, "a block is assigned to several names");
    if (tokens_.is_operator("|")) {
      // No template can define this name.
      auto text = std::make_unique<Expression>(Expression{.kind = ExpressionKind::kName, .line = read.line});
      text->name = kBlockText;
      LB_ASSIGN_OR_RETURN(read.expression, expressions_.filters(std::move(text)));
    }
    LB_RETURN_IF_ERROR(end_of_block());
    LB_RETURN_IF_ERROR(read_branch(kEnd, nullptr, read));
    return pass_end();
  }

  Status read_macro(Statement& read) {
    static constexpr std::array<std::string_view, 1> kEnd{"endmacro"};
    read.kind = StatementKind::kMacro;
    if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of a macro");
    read.text = tokens_.take().text;
    LB_RETURN_IF_ERROR(tokens_.expect_operator("("));
    while (!tokens_.pass_operator(")")) {
      if (!read.parameters.empty()) LB_RETURN_IF_ERROR(tokens_.expect_operator(","));
      if (!tokens_.is(TokenKind::kName)) return tokens_.unexpected("the name of a parameter");
      Parameter parameter{.name = tokens_.take().text};
      if (tokens_.pass_operator("=")) {
        LB_ASSIGN_OR_RETURN(parameter.otherwise, expressions_.expression());
      } else if (!read.parameters.empty() && read.parameters.back().otherwise != nullptr) {
        return fault_at(read.line, "a parameter without a default follows one with a default");
      }
      read.parameters.push_back(std::move(parameter));
    }
    LB_RETURN_IF_ERROR(end_of_block());
    const std::size_t loops = std::exchange(loops_, 0);
    LB_RETURN_IF_ERROR(read_branch(kEnd, nullptr, read));
    loops_ = loops;
    return pass_end();
  }

  TokenReader& tokens_;
  ExpressionParser expressions_;
  std::size_t loops_ = 0;
};

}  // namespace

Result<Body> parse_statements(std::string_view source, std::size_t depth_max) {
  LB_ASSIGN_OR_RETURN(std::vector<Token> split, split_into_tokens(source));
  TokenReader tokens(std::move(split), depth_max);
  return StatementParser(tokens).body({}, 1);
}

}  // namespace latebind::templates
