#include "embedding/weights/adapters/module_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kBytesMax = 16384;
// What Python and the engine here both know after a backslash, besides punctuation, and after "(?".
constexpr std::string_view kEscapes = "dDwWsSbBA";
constexpr std::array<std::string_view, 5> kGroups{"(?:", "(?=", "(?!", "(?<=", "(?<!"};
// These mean something else in one of both.
constexpr std::array<std::string_view, 2> kInClasses{"[[", "&&"};

Status refused(std::string_view expression, std::string_view part) {
  return {StatusCode::kUnsupported, fmt::format("the regular expression {} has {}, which is not supported",
                                                core::quoted(expression, 100), core::quoted(part, 20))};
}

Status check_syntax(std::string_view expression) {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::string_view rest = expression.substr(i);
    if (rest[0] == '\\') {
      if (rest.size() == 1) return refused(expression, rest);
      const char next = rest[1];
      const bool is_word =
          core::is_ascii_letter(next) || core::is_ascii_digit(next) || static_cast<unsigned char>(next) >= 0x80;
      if (is_word && kEscapes.find(next) == std::string_view::npos) return refused(expression, rest.substr(0, 2));
      ++i;
      continue;
    }
    const auto begins = [&](std::string_view part) { return rest.starts_with(part); };
    if (begins("(?") && std::ranges::none_of(kGroups, begins)) return refused(expression, rest.substr(0, 3));
    if (const auto* const found = std::ranges::find_if(kInClasses, begins); found != kInClasses.end())
      return refused(expression, *found);
  }
  return {};
}

class WholeMatch final : public MatchSink {
 public:
  explicit WholeMatch(std::size_t size) : size_(size) {}
  bool match(std::size_t begin, std::size_t end) override {
    is_found_ = begin == 0 && end == size_;
    return false;
  }
  [[nodiscard]] bool is_found() const { return is_found_; }

 private:
  const std::size_t size_;
  bool is_found_ = false;
};

}  // namespace

Result<ModulePattern> ModulePattern::make(std::string_view expression, Scope scope) {
  if (expression.empty() || expression.size() > kBytesMax || core::find_invalid_utf8(expression)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("a regular expression must be 1 to {} bytes of UTF-8", kBytesMax));
  }
  LB_RETURN_IF_ERROR(check_syntax(expression));
  std::string whole(expression);
  // The line feed that is added to each name keeps expressions that match the empty text from being refused.
  auto pattern = Pattern::expression(fmt::format("^{}(?:{})$\n", scope == Scope::kEnd ? "(?:.*\\.)?" : "", expression));
  if (!pattern.ok())
    return pattern.status().with_context(fmt::format("the regular expression {}", core::quoted(whole, 100)));
  return ModulePattern(std::move(whole), std::shared_ptr<const Pattern>(*std::move(pattern)));
}

Result<bool> ModulePattern::matches(std::string_view module) const {
  if (module.empty() || core::find_invalid_utf8(module) || module.find('\n') != std::string_view::npos) return false;
  const std::string line = std::string(module) + '\n';
  WholeMatch sink(line.size());
  try {
    pattern_->find_all(line, sink);
  } catch (const PatternLimitError& error) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the regular expression {}: {}", core::quoted(expression_, 100), error.what()));
  }
  return sink.is_found();
}

}  // namespace latebind::embedding
