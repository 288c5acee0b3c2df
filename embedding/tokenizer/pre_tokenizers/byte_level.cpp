// ByteLevel: words with the space before them, numbers and punctuation apart; every byte is written as a character.
#include <cstdint>
#include <memory>
#include <string>

#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/byte_level_options.h"
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

enum class CharClass : std::uint8_t { kOther, kLetter, kNumber, kSpace };

CharClass class_by_properties(char32_t c) {
  const std::uint8_t properties = unicode::properties(c);
  if ((properties & unicode::kLetter) != 0) return CharClass::kLetter;
  if ((properties & unicode::kNumber) != 0) return CharClass::kNumber;
  return (properties & unicode::kWhitespace) != 0 ? CharClass::kSpace : CharClass::kOther;
}

using CharClasses = CodePointTable<CharClass, class_by_properties>;

// Finds the words of GPT-2's expression, without an engine for expressions:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class ByteLevelWords {
 public:
  explicit ByteLevelWords(std::string_view text) : classes_(CharClasses::shared()), text_(text) {}

  // Where the word that begins at `begin`, before the end of the text, ends.
  [[nodiscard]] std::size_t end_of_word(std::size_t begin) const {
    if (text_[begin] == '\'') {
      if (const std::size_t size = short_form(begin)) return begin + size;
    }
    std::size_t at = begin;
    CharClass kind = read(at);
    if (text_[begin] == ' ' && at < text_.size()) {
      std::size_t behind = at;
      const CharClass next = read(behind);
      if (next != CharClass::kSpace) {
        at = behind;
        kind = next;
      }
    }
    if (kind != CharClass::kSpace) return end_of_run(at, kind).end;
    const Run run = end_of_run(at, kind);
    // The last space of several goes to what stands behind them.
    const bool leaves_last = run.end < text_.size() && run.last > begin;
    return leaves_last ? run.last : run.end;
  }

 private:
  struct Run {
    std::size_t last;  // where its last character begins; 0 when nothing was added to the run
    std::size_t end;
  };

  [[nodiscard]] CharClass read(std::size_t& at) const {
    const char* p = text_.data() + at;
    const CharClass kind = classes_.of(core::decode_utf8(p));
    at = static_cast<std::size_t>(p - text_.data());
    return kind;
  }

  [[nodiscard]] Run end_of_run(std::size_t at, CharClass kind) const {
    std::size_t last = 0;
    while (at < text_.size()) {
      std::size_t next = at;
      if (read(next) != kind) break;
      last = at;
      at = next;
    }
    return {last, at};
  }

  // Bytes of the English short form that stands here, or 0.
  [[nodiscard]] std::size_t short_form(std::size_t at) const {
    const std::string_view rest = text_.substr(at + 1, 2);
    if (rest.empty()) return 0;
    if (rest.front() == 's' || rest.front() == 't' || rest.front() == 'm' || rest.front() == 'd') return 2;
    return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
  }

  const CharClasses& classes_;
  std::string_view text_;
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(ByteLevelOptions options) : options_(options) {}

  std::size_t growth() const override { return 2; }
  bool rewrites() const override { return true; }
  bool split(std::string_view text, WordSink& sink) const override {
    if (text.empty()) return true;
    if (!options_.add_prefix_space || text.front() == ' ') return split_prefixed(text, 0, sink);
    const char* second = text.data();
    core::decode_utf8(second);
    const std::string prefixed = std::string(1, ' ').append(text);
    return split_prefixed(prefixed, static_cast<std::size_t>(second - text.data()), sink);
  }

 private:
  // `first_size`: the bytes of the first character, if a space was added before it, else 0.
  bool split_prefixed(std::string_view text, std::size_t first_size, WordSink& sink) const {
    const ByteLevelWords words(text);
    const std::size_t added = first_size > 0 ? 1 : 0;
    std::string written;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = options_.use_regex ? words.end_of_word(begin) : text.size();
      // An added space stands for the first character, as this does itself.
      const std::size_t place = begin == 0 ? 0 : begin - added;
      const std::size_t place_end = begin == 0 && end == added ? first_size : end - added;
      if (!sink.word({write_bytes(text.substr(begin, end - begin), written), place, place_end, true})) return false;
      begin = end;
    }
    return true;
  }

  static std::string_view write_bytes(std::string_view bytes, std::string& written) {
    if (written.size() < bytes.size() * 2) written.resize(bytes.size() * 2);
    char* to = written.data();
    for (const char byte : bytes) {
      const ByteChar& c = kByteChars[static_cast<unsigned char>(byte)];
      to[0] = c.utf8[0];
      if (c.size > 1) to[1] = c.utf8[1];
      to += c.size;
    }
    return {written.data(), static_cast<std::size_t>(to - written.data())};
  }

  const ByteLevelOptions options_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_byte_level(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(const ByteLevelOptions options, read_byte_level_options(view));
  return PreTokenizerPtr(std::make_unique<ByteLevel>(options));
}

}  // namespace latebind::embedding
