// ByteLevel: words include the space before them, numbers and punctuation are separate, and each byte is written as a
// character.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/byte_level_options.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/patterns/known_patterns.h"

namespace latebind::embedding {
namespace {

// Each character of the word represents one byte; an added space represents the first character of the text.
class BytePlaces final : public WordPlaces {
 public:
  // `begin` is the word's position in the text with `added` bytes before it.
  BytePlaces(std::string_view word, std::size_t begin, std::size_t added) : word_(word), begin_(begin), added_(added) {}
  void append_to(std::vector<std::size_t>& places) const override {
    std::size_t next = begin_;
    for (const char byte : word_) {
      if (!core::is_utf8_continuation(byte)) ++next;
      places.push_back(std::max(next - 1, added_) - added_);
    }
  }

 private:
  const std::string_view word_;
  const std::size_t begin_;
  const std::size_t added_;
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
  // `first_size` is the size of the first character if a space was added before it, else 0.
  bool split_prefixed(std::string_view text, std::size_t first_size, WordSink& sink) const {
    const Gpt2Words words(text);
    const std::size_t added = first_size > 0 ? 1 : 0;
    std::string written;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = options_.use_regex ? words.end_of_word(begin) : text.size();
      // Both an added space and the first character represent the first character.
      const std::size_t place = begin == 0 ? 0 : begin - added;
      const std::size_t place_end = begin == 0 && end == added ? first_size : end - added;
      const std::string_view word = write_bytes(text.substr(begin, end - begin), written);
      const BytePlaces places(word, begin, added);
      if (!sink.word({word, place, place_end, &places})) return false;
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
