#include "embedding/tokenizer/text_replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kSpaces = " {2,}";  // as a regular expression
constexpr std::size_t kBytesMax = 512;

}  // namespace

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

Result<TextReplacement> TextReplacement::read(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "pattern", "content"}));
  LB_ASSIGN_OR_RETURN(const JsonView pattern, view.object("pattern"));
  LB_ASSIGN_OR_RETURN(std::string content, view.string("content"));
  const char* const kind = pattern.find("Regex") != nullptr ? "Regex" : "String";
  LB_RETURN_IF_ERROR(pattern.only_keys({kind}));
  LB_ASSIGN_OR_RETURN(std::string text, pattern.string(kind));
  if (text.size() > kBytesMax || content.size() > kBytesMax) {
    return Status(StatusCode::kUnsupported, fmt::format("{} has a text of more than {} bytes", view.name(), kBytesMax));
  }
  if (kind == std::string_view("Regex")) {
    if (text != kSpaces) {
      return Status(StatusCode::kUnsupported, fmt::format("{}.Regex {} is not supported (supported: '{}')",
                                                          pattern.name(), core::quoted(text), kSpaces));
    }
    text.clear();
  } else if (text.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.String is empty, which is not supported", pattern.name()));
  }
  return TextReplacement(std::move(text), std::move(content));
}

TextReplacement::Match TextReplacement::find(std::string_view text, std::size_t from) const {
  const std::string_view wanted = text_.empty() ? std::string_view("  ") : std::string_view(text_);
  const std::size_t begin = text.find(wanted, from);
  if (begin == std::string_view::npos) return {text.size(), text.size()};
  if (!text_.empty()) return {begin, begin + wanted.size()};
  return {begin, std::min(text.find_first_not_of(' ', begin), text.size())};
}

std::size_t TextReplacement::growth() const {
  const std::size_t size = text_.empty() ? 2 : text_.size();
  return std::max<std::size_t>((content_.size() + size - 1) / size, 1);
}

std::size_t TextReplacement::origin_after(std::string_view text, std::size_t origin) const {
  std::size_t written = 0;
  for (std::size_t at = 0; at < origin;) {
    const Match match = find(text, at);
    if (match.begin >= origin) return written + origin - at;
    written += match.begin - at;
    if (match.end > origin) break;
    written += content_.size();
    at = match.end;
  }
  return written;
}

std::string TextReplacement::apply(std::string_view text) const {
  std::string replaced;
  replaced.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Match match = find(text, at);
    replaced.append(text.substr(at, match.begin - at));
    if (match.begin < match.end) replaced.append(content_);
    at = match.end;
  }
  return replaced;
}

}  // namespace latebind::embedding
