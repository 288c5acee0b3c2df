// Precompiled: SentencePiece's map of characters, which is part of a model.
//
// The map consists of a double array of bytes (as darts-clone builds it) and the texts that replace its keys. Lookups
// follow the reference. A grapheme of few bytes is looked up as a whole: the shortest key that is a prefix of it
// decides, and the rest of the grapheme is dropped. Otherwise each of its characters is looked up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/text/base64.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/graphemes.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// One element of the double array: either a node's label and the place of its children, or the value of a key.
class Unit {
 public:
  explicit Unit(std::uint32_t bits) : bits_(bits) {}

  // The unit's byte. A unit with a value has none, and the result is then no byte.
  [[nodiscard]] std::uint32_t label() const { return bits_ & (1U << 31 | 0xFFU); }
  // Whether a key ends here.
  [[nodiscard]] bool has_value() const { return (bits_ >> 8 & 1U) != 0; }
  [[nodiscard]] std::uint32_t value() const { return bits_ & ~(1U << 31); }
  // The offset that, by exclusive or with this unit's place, leads to the unit of its value and to its children.
  [[nodiscard]] std::uint32_t offset() const { return bits_ >> 10 << ((bits_ & 1U << 9) >> 6); }

 private:
  std::uint32_t bits_;
};

// Keys and their replacements. check() has ensured that lookups stay inside the array and that all texts are
// well-formed.
class CharacterMap {
 public:
  static Result<CharacterMap> create(std::string_view bytes, std::string_view place);

  // The greatest number of bytes that replace a key, which has at least one byte.
  [[nodiscard]] std::size_t growth() const { return std::max<std::size_t>(longest_text_, 1); }
  // The replacement of the shortest key that is a prefix of `text`.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view text) const {
    std::size_t place = units_[0].offset();
    for (const char byte : text) {
      if (byte == '\0') break;
      place ^= static_cast<unsigned char>(byte);
      const Unit unit = units_[place];
      if (unit.label() != static_cast<unsigned char>(byte)) break;
      place ^= unit.offset();
      if (unit.has_value()) return text_at(units_[place].value());
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kTextBytesMax = 256;

  [[nodiscard]] std::string_view text_at(std::size_t begin) const {
    return std::string_view(texts_).substr(begin, std::string_view(texts_).find('\0', begin) - begin);
  }
  [[nodiscard]] Status check(std::string_view place);
  [[nodiscard]] bool is_text(std::size_t begin) const;

  std::vector<Unit> units_;
  std::string texts_;  // each ends at a zero byte or at the end
  std::size_t longest_text_ = 0;
};

Result<CharacterMap> CharacterMap::create(std::string_view bytes, std::string_view place) {
  const auto take_number = [&bytes] {
    std::uint32_t number = 0;
    for (unsigned i = 0; i < 4; ++i)
      number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    bytes.remove_prefix(4);
    return number;
  };
  CharacterMap map;
  const std::size_t unit_count = bytes.size() < 4 ? 0 : take_number() / 4;
  if (unit_count == 0 || unit_count > bytes.size() / 4) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} is not a map: its size is wrong", place));
  }
  map.units_.reserve(unit_count);
  while (map.units_.size() < unit_count)
    map.units_.emplace_back(take_number());
  map.texts_ = bytes;
  if (core::find_invalid_utf8(bytes)) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} is not a map: its texts are not UTF-8", place));
  }
  LB_RETURN_IF_ERROR(map.check(place));
  return map;
}

// Walks through everything that lookups can reach. Nodes are identified by the place of their children, which several
// nodes may share.
Status CharacterMap::check(std::string_view place) {
  const auto leads_out = [place] {
    return Status(StatusCode::kInvalidModel, fmt::format("{} is not a map: it refers outside itself", place));
  };
  // The units that claim to be children, by the place at which they would be children.
  std::vector<std::uint32_t> first_child(units_.size(), 0);
  std::vector<std::uint32_t> next_child(units_.size(), 0);
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    const std::uint32_t label = units_[i].label();
    if (label == 0 || label > 0xFF || (i ^ label) >= units_.size()) continue;
    next_child[i] = first_child[i ^ label];
    first_child[i ^ label] = i + 1;
  }
  std::vector<bool> is_seen(units_.size(), false);
  std::vector<std::uint32_t> open;
  const auto reach = [&](std::uint32_t children) {
    if ((children | 0xFFU) >= units_.size()) return false;
    if (!is_seen[children]) open.push_back(children);
    is_seen[children] = true;
    return true;
  };
  if (!reach(units_[0].offset())) return leads_out();
  while (!open.empty()) {
    const std::uint32_t children = open.back();
    open.pop_back();
    for (std::uint32_t child = first_child[children]; child != 0; child = next_child[child - 1]) {
      const Unit unit = units_[child - 1];
      const std::uint32_t below = (child - 1) ^ unit.offset();
      if (!reach(below)) return leads_out();
      if (!unit.has_value()) continue;
      const std::size_t begin = units_[below].value();
      if (!is_text(begin)) {
        return {StatusCode::kInvalidModel,
                fmt::format("{} is not a map: a key does not become a text of at most {} bytes", place, kTextBytesMax)};
      }
      longest_text_ = std::max(longest_text_, text_at(begin).size());
    }
  }
  return {};
}

bool CharacterMap::is_text(std::size_t begin) const {
  if (begin > texts_.size()) return false;
  if (begin < texts_.size() && core::is_utf8_continuation(texts_[begin])) return false;
  const std::string_view start = std::string_view(texts_).substr(begin, kTextBytesMax + 1);
  return start.size() <= kTextBytesMax || start.find('\0') != std::string_view::npos;
}

std::ptrdiff_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return !core::is_utf8_continuation(byte); });
}

// Tracks which characters became which, like the reference. It ignores characters that vanish at the beginning, and
// takes the following ones for them.
class OriginTracker {
 public:
  OriginTracker(std::string_view text, std::size_t origin) : text_(text), origin_(origin) {}

  [[nodiscard]] bool is_done() const { return is_done_; }

  void replace(std::string_view was, std::string_view now) {
    const std::ptrdiff_t added = characters(now) - characters(was);
    const std::ptrdiff_t kept = characters(now) - std::max<std::ptrdiff_t>(added, 0);
    std::ptrdiff_t place = 0;
    for (const char* p = now.data(); p != now.data() + now.size(); ++place) {
      const char* const begin = p;
      core::decode_utf8(p);
      settle();
      last_ = Written{static_cast<std::size_t>(p - begin), place < kept ? 0 : 1};
    }
    if (added < 0) last_.change += added;  // ignored if no character has been written yet
  }
  // The bytes that represent the origin.
  [[nodiscard]] std::size_t finish() {
    settle();
    return written_;
  }

 private:
  // A character of the new text. A `change` of 0 means that it represents one character of the old text; 1: it was
  // added after one; a negative number: it represents, in addition, that many following characters.
  struct Written {
    std::size_t size = 0;  // 0: no character
    std::ptrdiff_t change = 0;
  };

  // Applies the last character, which later ones can no longer change.
  void settle() {
    if (last_.size == 0 || is_done_) return;
    const std::size_t place = last_.change > 0 ? std::max<std::size_t>(at_, 1) - 1 : at_;
    is_done_ = place >= origin_;
    if (is_done_) return;
    written_ += last_.size;
    for (std::ptrdiff_t i = last_.change; i <= 0 && at_ < text_.size(); ++i) {
      const char* p = text_.data() + at_;
      core::decode_utf8(p);
      at_ = static_cast<std::size_t>(p - text_.data());
    }
    last_ = {};
  }

  const std::string_view text_;
  const std::size_t origin_;
  std::size_t at_ = 0;  // in the old text
  std::size_t written_ = 0;
  Written last_;
  bool is_done_ = false;
};

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(CharacterMap map) : map_(std::move(map)) {
    for (std::size_t c = 0x20; c < is_plain_.size(); ++c) {
      const char byte = static_cast<char>(c);
      is_plain_[c] = !map_.find({&byte, 1});
    }
  }

  std::size_t growth() const override { return map_.growth(); }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    const std::string_view rest = text.read_rest();
    if (text.origin() > 0) text.set_origin(origin_after(rest, text.origin()));
    for (std::size_t at = 0; at < rest.size();) {
      const std::size_t plain = end_of_plain(rest, at);
      text.write(rest.substr(at, plain - at));
      at = plain;
      if (at == rest.size()) break;
      const std::size_t end = end_of_grapheme(rest, at);
      rewrite_grapheme(rest.substr(at, end - at), text);
      at = end;
    }
  }
  AlignedText align(const AlignedText& text) const override {
    const std::string_view was = text.text();
    AlignedChanges changes(text);
    // A removed character counts for the last one written. At the beginning it is ignored, and the following characters
    // are taken for it.
    std::optional<std::pair<char32_t, std::ptrdiff_t>> last;
    const auto write = [&](char32_t c, std::ptrdiff_t change) {
      if (last) changes.write(last->first, last->second);
      last.emplace(c, change);
    };
    for (std::size_t at = 0; at < was.size();) {
      for (const std::size_t plain = end_of_plain(was, at); at < plain; ++at)
        write(static_cast<unsigned char>(was[at]), 0);
      if (at == was.size()) break;
      const std::size_t end = end_of_grapheme(was, at);
      for_each_replacement(was.substr(at, end - at), [&](std::string_view before, std::string_view now) {
        const std::ptrdiff_t added = characters(now) - characters(before);
        const std::ptrdiff_t kept = characters(now) - std::max<std::ptrdiff_t>(added, 0);
        std::ptrdiff_t place = 0;
        for (const char* p = now.data(); p != now.data() + now.size(); ++place)
          write(core::decode_utf8(p), place < kept ? 0 : 1);
        if (added < 0 && last) last->second += added;
      });
      at = end;
    }
    if (last) changes.write(last->first, last->second);
    return changes.take();
  }

 private:
  static constexpr std::size_t kLookedUpWhole = 5;  // bytes

  // The end of the characters that are single graphemes and stay unchanged: those of ASCII, unless a character follows
  // that might belong to them.
  [[nodiscard]] std::size_t end_of_plain(std::string_view text, std::size_t at) const {
    const auto is_plain = [&](std::size_t i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      return byte < 0x80 && is_plain_[byte];
    };
    while (at < text.size() && is_plain(at) &&
           (at + 1 == text.size() || static_cast<unsigned char>(text[at + 1]) < 0x80))
      ++at;
    return at;
  }

  void rewrite_grapheme(std::string_view grapheme, TextRewriter& text) const {
    for_each_replacement(grapheme, [&text](std::string_view, std::string_view now) { text.write(now); });
  }

  // Calls on_part(old, new) for a grapheme as a whole, or for each of its characters.
  template <class OnPart>
  void for_each_replacement(std::string_view grapheme, OnPart on_part) const {
    if (grapheme.size() <= kLookedUpWhole) {
      if (const auto found = map_.find(grapheme)) {
        on_part(grapheme, *found);
        return;
      }
    }
    for (const char* p = grapheme.data(); p != grapheme.data() + grapheme.size();) {
      const char* const begin = p;
      core::decode_utf8(p);
      const std::string_view character(begin, static_cast<std::size_t>(p - begin));
      on_part(character, map_.find(character).value_or(character));
    }
  }

  [[nodiscard]] std::size_t origin_after(std::string_view text, std::size_t origin) const {
    OriginTracker tracker(text, origin);
    for (std::size_t at = 0; at < text.size() && !tracker.is_done();) {
      const std::size_t end = end_of_grapheme(text, at);
      for_each_replacement(text.substr(at, end - at),
                           [&tracker](std::string_view was, std::string_view now) { tracker.replace(was, now); });
      at = end;
    }
    return tracker.finish();
  }

  const CharacterMap map_;
  std::array<bool, 0x80> is_plain_{};  // neither a key nor the beginning of one, and no control character
};

}  // namespace

Result<NormalizerPtr> read_precompiled(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "precompiled_charsmap"}));
  LB_ASSIGN_OR_RETURN(const std::string encoded, view.string("precompiled_charsmap"));
  const std::string place = view.name() + ".precompiled_charsmap";
  const auto bytes = core::decode_base64(encoded);
  if (!bytes) return Status(StatusCode::kInvalidModel, fmt::format("{} is not Base64", place));
  LB_ASSIGN_OR_RETURN(CharacterMap map, CharacterMap::create(*bytes, place));
  return NormalizerPtr(std::make_unique<Precompiled>(std::move(map)));
}

}  // namespace latebind::embedding
