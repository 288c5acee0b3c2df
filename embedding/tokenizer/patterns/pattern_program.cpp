#include "embedding/tokenizer/patterns/pattern_program.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include "core/text/format_to.h"
#include "core/text/utf8.h"

namespace latebind::embedding {
namespace {

using NodeKind = PatternNode::Kind;

// Limits for one search: steps at one place, and memory, which is never taken from the thread's stack.
constexpr std::uint32_t kStepsMax = 200'000;
constexpr std::uint32_t kHeapMaxKib = 64 << 10;
// How many characters are searched at once. A match that may be longer is searched in larger windows, place by place.
// The sum of their sizes is limited, since an expression could need the whole text at each place.
constexpr std::size_t kWindow = 2048;
constexpr std::size_t kLargeWindowsMax = std::size_t{1} << 28;
constexpr std::size_t kLargeWindowsMaxPerByte = 256;

void write_letters(const std::string& letters, std::string& out) {
  if (letters.empty()) {
    out += "(?!)";
    return;
  }
  out += '[';
  for (const char letter : letters)
    fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned char>(letter));
  out += ']';
}

void write_times(const PatternNode& node, std::string& out) {
  const std::size_t least = node.times_min;
  const std::size_t most = node.times_max;
  if (most == PatternNode::kNoEnd && least <= 1) {
    out += least == 0 ? '*' : '+';
  } else if (most == PatternNode::kNoEnd) {
    out += fmt::format("{{{},}}", least);
  } else {
    out += least == 0 && most == 1 ? "?" : fmt::format("{{{},{}}}", least, most);
  }
  if (node.greed == PatternNode::Greed::kLazy) out += '?';
  if (node.greed == PatternNode::Greed::kPossessive) out += '+';
}

void write_node(const PatternNode& node, const PatternAlphabet& alphabet, std::string& out) {
  const auto write_parts = [&](std::string_view open, std::string_view between) {
    out += open;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      if (i > 0) out += between;
      write_node(node.parts[i], alphabet, out);
    }
    out += ')';
  };
  switch (node.kind) {
    case NodeKind::kCharacter:
      write_letters(alphabet.letters_of(node.set), out);
      return;
    case NodeKind::kSequence:
      write_parts("(?:", "");
      return;
    case NodeKind::kAlternatives:
      write_parts("(?:", "|");
      return;
    case NodeKind::kRepeat:
      // Repetition of a single character needs no group, and is much faster without.
      if (node.parts.front().kind == NodeKind::kCharacter) {
        write_node(node.parts.front(), alphabet, out);
      } else {
        write_parts("(?:", "");
      }
      write_times(node, out);
      return;
    case NodeKind::kAtomic:
      write_parts("(?>", "");
      return;
    case NodeKind::kLook:
      write_parts(std::array{"(?=", "(?!", "(?<=", "(?<!"}[(node.behind ? 2U : 0U) + (node.negated ? 1U : 0U)], "");
      return;
  }
}

// Whether the expression contains a look-ahead that must match.
bool looks_ahead(const PatternNode& node) {
  if (node.kind == NodeKind::kLook && !node.behind && !node.negated) return true;
  return std::ranges::any_of(node.parts, looks_ahead);
}

std::string text_of_error(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

pcre2_code* code_of(void* code) {
  return static_cast<pcre2_code*>(code);
}

}  // namespace

core::Result<PatternPtr> PatternProgram::compile(const PatternTree& tree) {
  std::unique_ptr<PatternProgram> program(new PatternProgram);
  LB_ASSIGN_OR_RETURN(program->alphabet_, PatternAlphabet::create(tree.sets));
  program->size_min_ = tree.root.size_min;
  program->behind_max_ = tree.behind_max;
  std::string expression;
  write_node(tree.root, *program->alphabet_, expression);
  int error = 0;
  PCRE2_SIZE error_at = 0;
  std::uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NO_AUTO_CAPTURE | PCRE2_USE_OFFSET_LIMIT;
  // PCRE2 10.42 takes the first character of a look-ahead for that of a match, and then requires the last one after it:
  // "(?=a)b?ac" does not find "ac".
  if (looks_ahead(tree.root)) options |= PCRE2_NO_START_OPTIMIZE;
  program->code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error,
                                 &error_at, nullptr);
  if (program->code_ == nullptr) {
    if (error == PCRE2_ERROR_NOMEMORY) return core::Status::out_of_memory();
    return core::Status(core::StatusCode::kUnsupported,
                        fmt::format("PCRE2 does not compile it ({}: {})", error, text_of_error(error)));
  }
  // Without compilation (another processor, no executable memory), the program is interpreted.
  pcre2_jit_compile(code_of(program->code_), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  return PatternPtr(std::move(program));
}

PatternProgram::~PatternProgram() {
  pcre2_code_free(code_of(code_));
}

// A search in one text.
class PatternProgram::Search {
 public:
  Search(const PatternProgram& program, std::string_view text)
      : program_(program),
        text_(text),
        context_(pcre2_match_context_create(nullptr)),
        data_(pcre2_match_data_create(1, nullptr)),
        unread_(text.data()),
        place_byte_(text.data()) {
    if (context_ == nullptr || data_ == nullptr) throw std::bad_alloc();
    pcre2_set_match_limit(context_.get(), kStepsMax);
    pcre2_set_heap_limit(context_.get(), kHeapMaxKib);
  }

  bool run(MatchSink& sink) {
    std::size_t from = 0;
    Found found{};
    while (find(from, found)) {
      const std::size_t begin = byte_of(found.begin);
      const std::size_t end = byte_of(found.end);
      if (!sink.match(begin, end)) return false;
      from = found.end;
    }
    return true;
  }

 private:
  struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };
  struct FreeData {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  // Positions in characters of the text.
  struct Found {
    std::size_t begin;
    std::size_t end;
  };

  bool find(std::size_t from, Found& found) {
    std::size_t window = kWindow;
    for (;;) {
      // The end of the window, and whether it is the end of the text.
      const std::size_t size = read_window(from, window);
      const bool is_rest = unread_ == text_.data() + text_.size() && size == letters_.size();
      if (from >= first_ + size) return false;
      const bool is_large = window > kWindow;
      const int result = match(from, size, is_large, is_rest ? 0 : PCRE2_PARTIAL_HARD);
      const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(data_.get());
      if (result >= 0) {
        found = {first_ + place[0], first_ + place[1]};
        return true;
      }
      if (result == PCRE2_ERROR_PARTIAL) {
        const std::size_t begin = first_ + place[0];
        if (begin > from) {
          from = begin;
        } else {
          window *= 4;
          charge(window);
        }
      } else if (is_large) {
        ++from;
        window = kWindow;
      } else if (is_rest) {
        return false;
      } else {
        from = first_ + size;
      }
    }
  }

  // PCRE2's result for a match or the beginning of one at or after `from`, or only at `from`.
  int match(std::size_t from, std::size_t size, bool only_there, std::uint32_t options) {
    const auto* const subject = reinterpret_cast<PCRE2_SPTR>(letters_.data());
    const std::size_t offset = from - first_;
    pcre2_set_offset_limit(context_.get(), only_there ? offset : PCRE2_UNSET);
    const pcre2_code* const code = code_of(program_.code_);
    int result = pcre2_match(code, subject, size, offset, options, data_.get(), context_.get());
    // Compiled programs use a small part of the thread's stack.
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
      result = pcre2_match(code, subject, size, offset, options | PCRE2_NO_JIT, data_.get(), context_.get());
    }
    if (result >= 0 || result == PCRE2_ERROR_NOMATCH || result == PCRE2_ERROR_PARTIAL) return result;
    if (result == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    throw PatternLimitError(
        fmt::format("an expression of the tokenizer takes too much time or memory for this text at character {}: PCRE2 "
                    "reports {}: {}",
                    from, result, text_of_error(result)));
  }

  void charge(std::size_t window) {
    charged_ += std::min(window, text_.size());
    if (charged_ > kLargeWindowsMax + text_.size() * kLargeWindowsMaxPerByte) {
      throw PatternLimitError(
          "an expression of the tokenizer takes too much time for this text: it reads most of it at every position");
    }
  }

  // Reads letters from the earliest that a look-behind at `from` may need to `window` characters after it, or to the
  // text's end. Returns the number of letters from first_ on.
  std::size_t read_window(std::size_t from, std::size_t window) {
    const std::size_t passed = from - std::min(from, program_.behind_max_) - first_;
    if (passed >= std::max(kWindow, letters_.size() / 2)) {
      letters_.erase(letters_.begin(),
                     letters_.begin() + static_cast<std::ptrdiff_t>(std::min(passed, letters_.size())));
      first_ += passed;
    }
    const std::size_t wanted = from + window - first_;
    const char* const end = text_.data() + text_.size();
    while (letters_.size() < wanted && unread_ != end)
      letters_.push_back(program_.alphabet_->letter_of(core::decode_utf8(unread_)));
    return std::min(letters_.size(), wanted);
  }

  // The byte position of a character, which is not before the last one asked for.
  std::size_t byte_of(std::size_t character) {
    const char* const end = text_.data() + text_.size();
    for (; place_ < character; ++place_) {
      ++place_byte_;
      while (place_byte_ != end && core::is_utf8_continuation(*place_byte_))
        ++place_byte_;
    }
    return static_cast<std::size_t>(place_byte_ - text_.data());
  }

  const PatternProgram& program_;
  const std::string_view text_;
  const std::unique_ptr<pcre2_match_context, FreeContext> context_;
  const std::unique_ptr<pcre2_match_data, FreeData> data_;
  std::vector<std::uint8_t> letters_;  // of the text's characters from first_ on
  std::size_t first_ = 0;
  const char* unread_;
  std::size_t place_ = 0;  // a character, and the place where it begins
  const char* place_byte_;
  std::size_t charged_ = 0;
};

bool PatternProgram::find_all(std::string_view text, MatchSink& sink) const {
  return text.empty() || Search(*this, text).run(sink);
}

}  // namespace latebind::embedding
