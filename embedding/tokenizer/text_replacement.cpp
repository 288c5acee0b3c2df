#include "embedding/tokenizer/text_replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kBytesMax = 512;

class ReplacingSink final : public MatchSink {
 public:
  ReplacingSink(std::string_view text, std::string_view content) : text_(text), content_(content) {
    replaced_.reserve(text.size());
  }
  bool match(std::size_t begin, std::size_t end) override {
    replaced_.append(text_.substr(at_, begin - at_)).append(content_);
    at_ = end;
    return true;
  }
  std::string finish() { return std::move(replaced_.append(text_.substr(at_))); }

 private:
  const std::string_view text_;
  const std::string_view content_;
  std::size_t at_ = 0;
  std::string replaced_;
};

// The replacement of a match represents the match's last character.
class AligningSink final : public MatchSink {
 public:
  AligningSink(const AlignedText& text, std::string_view content) : text_(text), content_(content) {}
  bool match(std::size_t begin, std::size_t end) override {
    replaced_.append(text_, at_, begin);
    replaced_.append(content_, text_.origin(end - 1));
    at_ = end;
    return true;
  }
  AlignedText finish() {
    replaced_.append(text_, at_, text_.text().size());
    return std::move(replaced_);
  }

 private:
  const AlignedText& text_;
  const std::string_view content_;
  std::size_t at_ = 0;
  AlignedText replaced_;
};

// Counts the bytes written for the first `origin` bytes.
class OriginSink final : public MatchSink {
 public:
  OriginSink(std::size_t origin, std::size_t content_size) : origin_(origin), content_size_(content_size) {}
  bool match(std::size_t begin, std::size_t end) override {
    if (begin >= origin_) return false;
    written_ += begin - at_;
    at_ = origin_;
    if (end > origin_) return false;
    written_ += content_size_;
    at_ = end;
    return at_ < origin_;
  }
  [[nodiscard]] std::size_t written() const { return written_ + origin_ - at_; }

 private:
  const std::size_t origin_;
  const std::size_t content_size_;
  std::size_t at_ = 0;
  std::size_t written_ = 0;
};

}  // namespace

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

Result<TextReplacement> TextReplacement::read(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "pattern", "content"}));
  LB_ASSIGN_OR_RETURN(PatternPtr pattern, Pattern::read(view, "pattern"));
  LB_ASSIGN_OR_RETURN(std::string content, view.string("content"));
  if (content.size() > kBytesMax) {
    return Status(StatusCode::kUnsupported, fmt::format("{} has a text of more than {} bytes", view.name(), kBytesMax));
  }
  return TextReplacement(std::move(pattern), std::move(content));
}

std::size_t TextReplacement::growth() const {
  const std::size_t size = pattern_->size_min();
  return std::max<std::size_t>((content_.size() + size - 1) / size, 1);
}

std::size_t TextReplacement::origin_after(std::string_view text, std::size_t origin) const {
  OriginSink sink(origin, content_.size());
  if (origin > 0) pattern_->find_all(text, sink);
  return sink.written();
}

std::string TextReplacement::apply(std::string_view text) const {
  ReplacingSink sink(text, content_);
  pattern_->find_all(text, sink);
  return sink.finish();
}

AlignedText TextReplacement::apply(const AlignedText& text) const {
  AligningSink sink(text, content_);
  pattern_->find_all(text.text(), sink);
  return sink.finish();
}

}  // namespace latebind::embedding
