#include "embedding/tokenizer/patterns/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/quote.h"
#include "embedding/tokenizer/patterns/known_patterns.h"
#include "embedding/tokenizer/patterns/pattern_program.h"
#include "embedding/tokenizer/patterns/pattern_syntax.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kLiteralBytesMax = 512;
constexpr std::size_t kExpressionBytesMax = 4096;

class LiteralPattern final : public Pattern {
 public:
  explicit LiteralPattern(std::string text) : text_(std::move(text)) {}

  std::size_t size_min() const override { return text_.size(); }
  bool find_all(std::string_view text, MatchSink& sink) const override {
    for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at + text_.size())) {
      if (!sink.match(at, at + text_.size())) return false;
    }
    return true;
  }

 private:
  const std::string text_;
};

}  // namespace

PatternPtr Pattern::literal(std::string text) {
  return std::make_unique<LiteralPattern>(std::move(text));
}

Result<PatternPtr> Pattern::expression(std::string_view expression) {
  if (PatternPtr known = known_pattern(expression)) return known;
  if (expression.size() > kExpressionBytesMax) {
    return Status(StatusCode::kUnsupported, fmt::format("more than {} bytes", kExpressionBytesMax));
  }
  LB_ASSIGN_OR_RETURN(const PatternTree tree, read_pattern(expression));
  return PatternProgram::compile(tree);
}

Result<PatternPtr> Pattern::read(const JsonView& view, std::string_view key) {
  LB_ASSIGN_OR_RETURN(const JsonView pattern, view.object(key));
  const char* const kind = pattern.find("Regex") != nullptr ? "Regex" : "String";
  LB_RETURN_IF_ERROR(pattern.only_keys({kind}));
  LB_ASSIGN_OR_RETURN(std::string text, pattern.string(kind));
  if (kind == std::string_view("Regex")) {
    auto compiled = expression(text);
    if (!compiled.ok()) {
      return Status(compiled.status().code(),
                    fmt::format("{}.Regex {} has something that is not supported: {}", pattern.name(),
                                core::quoted(text), compiled.status().message()));
    }
    return compiled;
  }
  if (text.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.String is empty, which is not supported", pattern.name()));
  }
  if (text.size() > kLiteralBytesMax) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} has a text of more than {} bytes", view.name(), kLiteralBytesMax));
  }
  return literal(std::move(text));
}

}  // namespace latebind::embedding
