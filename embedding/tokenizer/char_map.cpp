#include "embedding/tokenizer/char_map.h"

namespace latebind::embedding {
namespace {

CharKind classify(char32_t c) {
  const std::uint8_t bits = unicode::properties(c);
  if ((bits & unicode::kWhitespace) != 0) return CharKind::kSpace;
  if ((bits & unicode::kPunctuation) != 0) return CharKind::kPunctuation;
  return CharKind::kLetter;
}

}  // namespace

CharMap::CharMap(const BertNormalizerOptions& options) : options_(options), ascii_(&page(0)) {}

const CharMap& CharMap::unchanged() {
  static const CharMap& map = *new CharMap(BertNormalizerOptions{});
  return map;
}

bool CharMap::is_dropped(char32_t c, std::uint8_t properties) {
  const bool kept_control = c == '\t' || c == '\n' || c == '\r';
  return c == 0 || c == 0xFFFD || ((properties & unicode::kOther) != 0 && !kept_control);
}

std::span<const CharMap::Part> CharMap::parts(char32_t c) const {
  const Page& found = page(c);
  const char32_t value = found.entries[c & 0xFFU].code_point();
  return std::span(found.parts).subspan(value >> 4, value & 0xFU);
}

void CharMap::fill(char32_t first, Page& page) const {
  for (Entry& entry : page.entries)
    entry = make_entry(first++, page.parts);
}

CharMap::Entry CharMap::make_entry(char32_t c, std::vector<Part>& parts) const {
  if (c >= 0xD800 && c <= 0xDFFF) return {CharKind::kDropped, 0};  // never in checked text
  if (options_.clean_text) {
    const std::uint8_t bits = unicode::properties(c);
    if (is_dropped(c, bits)) return {CharKind::kDropped, 0};
    if ((bits & unicode::kWhitespace) != 0) return {CharKind::kSpace, U' '};
  }
  const bool ideograph = options_.handle_chinese_chars && unicode::is_chinese(c);

  const std::size_t begin = parts.size();
  if (ideograph) parts.push_back({U' ', CharKind::kSpace, 0});
  const auto add = [&](char32_t part, std::uint8_t combining_class) {
    const unicode::Sequence lowered = options_.lowercase ? unicode::lower_case(part) : unicode::Sequence{{part}, 1};
    for (const char32_t low : lowered)
      parts.push_back({low, classify(low), combining_class});
  };
  if (options_.strip_accents) {
    for (const char32_t part : unicode::decompose(c)) {
      if ((unicode::properties(part) & unicode::kNonspacing) != 0) continue;
      add(part, unicode::combining_class(part));
    }
  } else {
    add(c, 0);
  }
  if (ideograph) parts.push_back({U' ', CharKind::kSpace, 0});

  const std::size_t count = parts.size() - begin;
  Entry entry(CharKind::kSequence, static_cast<char32_t>(begin << 4 | count));
  if (count == 0) {
    entry = {CharKind::kDropped, 0};
  } else if (count == 1 && parts[begin].combining_class == 0) {
    entry = {parts[begin].kind, parts[begin].code_point};
  } else if (ideograph && count == 3 && parts[begin + 1].combining_class == 0) {
    entry = {CharKind::kIdeograph, parts[begin + 1].code_point};
  }
  if (entry.kind() != CharKind::kSequence) parts.resize(begin);
  return entry;
}

}  // namespace latebind::embedding
