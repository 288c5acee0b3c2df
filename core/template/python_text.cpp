#include "core/template/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/ascii.h"
#include "core/text/utf8.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

std::size_t size_at(std::string_view text, std::size_t at) {
  std::size_t size = 1;
  while (at + size < text.size() && core::is_utf8_continuation(text[at + size]))
    ++size;
  return size;
}

char32_t decode(std::string_view character) {
  const char* p = character.data();
  return core::decode_utf8(p);
}

// Returns the last code point of a non-empty text.
std::string_view last_of(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && core::is_utf8_continuation(text[begin]))
    --begin;
  return text.substr(begin);
}

bool is_space_text(std::string_view character) {
  return is_space(decode(character));
}

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Scripts without upper and lower case: from Arabic to Thai, from CJK to Hangul, and most symbols between.
bool is_without_case(char32_t c) {
  return c < 0x80 || (c >= 0x590 && c < 0x10A0) || (c >= 0x2010 && c < 0x2100) || (c >= 0x2190 && c < 0x2460) ||
         (c >= 0x2500 && c < 0x2C00) || (c >= 0x2E80 && c < 0xA640) || (c >= 0xAC00 && c < 0xFB00) ||
         (c >= 0xFF00 && c < 0xFF21) || (c >= 0x1F000 && c < 0x1F130) || (c >= 0x1F200 && c < 0x40000) || c == 0xFEFF ||
         (c >= 0xFE00 && c < 0xFE70);
}

// The non-ASCII characters that repr() escapes: controls, spaces, format characters and private-use characters.
bool is_printable(char32_t c) {
  if (c < 0x20 || c == 0x7F) return false;
  if (c < 0xA1) return c < 0x7F;
  return c != 0xAD && !(c >= 0x600 && c <= 0x605) && c != 0x61C && c != 0x6DD && c != 0x70F && c != 0x1680 &&
         c != 0x180E && !(c >= 0x2000 && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202F) &&
         !(c >= 0x205F && c <= 0x206F) && c != 0x3000 && !(c >= 0xE000 && c <= 0xF8FF) && c != 0xFEFF &&
         !(c >= 0xFFF9 && c <= 0xFFFB) && c < 0xE0000;
}

std::int64_t clamped(std::int64_t index, std::int64_t size, std::int64_t low, std::int64_t high) {
  if (index < 0) index = index < -size ? low : index + size;
  return std::clamp(index, low, high);
}

void append_quoted(std::string_view text, std::string& out) {
  const bool in_double = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = in_double ? '"' : '\'';
  out += quote;
  for (const std::string_view character : CodePoints(text)) {
    const char32_t c = decode(character);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (is_printable(c)) {
      out += character;
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<std::uint32_t>(c));
    }
  }
  out += quote;
}

}  // namespace

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !core::is_utf8_continuation(c); }));
}

std::string_view CodePoints::Iterator::operator*() const {
  return rest_.substr(0, size_at(rest_, 0));
}

CodePoints::Iterator& CodePoints::Iterator::operator++() {
  rest_.remove_prefix(size_at(rest_, 0));
  return *this;
}

std::vector<std::string_view> code_points_of(std::string_view text) {
  std::vector<std::string_view> all;
  all.reserve(count_code_points(text));
  for (const std::string_view character : CodePoints(text))
    all.push_back(character);
  return all;
}

std::size_t count_parts(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string_view strip(std::string_view text, Ends ends, std::optional<std::string_view> set) {
  const auto goes = [&](std::string_view character) {
    return set ? set->find(character) != std::string_view::npos : is_space_text(character);
  };
  while (ends != Ends::kRight && !text.empty() && goes(text.substr(0, size_at(text, 0))))
    text.remove_prefix(size_at(text, 0));
  while (ends != Ends::kLeft && !text.empty() && goes(last_of(text)))
    text.remove_suffix(last_of(text).size());
  return text;
}

std::vector<std::string_view> split_at_space(std::string_view text, std::size_t most, bool from_right) {
  std::vector<std::string_view> parts;
  const Ends outer = from_right ? Ends::kRight : Ends::kLeft;
  for (text = strip(text, outer); !text.empty(); text = strip(text, outer)) {
    if (parts.size() == most) {
      parts.push_back(text);
      break;
    }
    std::size_t size = 0;  // of the word at this end
    while (size < text.size()) {
      const std::string_view rest = from_right ? text.substr(0, text.size() - size) : text.substr(size);
      const std::string_view character = from_right ? last_of(rest) : rest.substr(0, size_at(rest, 0));
      if (is_space_text(character)) break;
      size += character.size();
    }
    parts.push_back(from_right ? text.substr(text.size() - size) : text.substr(0, size));
    text = from_right ? text.substr(0, text.size() - size) : text.substr(size);
  }
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, std::size_t most,
                                       bool from_right) {
  std::vector<std::string_view> parts;
  while (parts.size() < most) {
    const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(from_right ? text.substr(at + separator.size()) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  parts.push_back(text);
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = size_at(text, at);
    if (!ends_line(decode(text.substr(at, size)))) {
      at += size;
      continue;
    }
    if (text.substr(at).starts_with("\r\n")) size = 2;
    lines.push_back(text.substr(begin, at - begin + (keep_ends ? size : 0)));
    at += size;
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string replace(std::string_view text, std::string_view old_part, std::string_view new_part, std::size_t most) {
  std::string replaced;
  if (old_part.empty()) {
    // As in Python, an empty old part matches before every character and at the end.
    for (const std::string_view character : CodePoints(text)) {
      if (most > 0) replaced += new_part;
      most -= most > 0 ? 1 : 0;
      replaced += character;
    }
    if (most > 0) replaced += new_part;
    return replaced;
  }
  for (; most > 0; --most) {
    const std::size_t at = text.find(old_part);
    if (at == std::string_view::npos) break;
    replaced += text.substr(0, at);
    replaced += new_part;
    text.remove_prefix(at + old_part.size());
  }
  replaced += text;
  return replaced;
}

Result<std::string> in_case(std::string_view text, Case wanted) {
  std::string changed;
  changed.reserve(text.size());
  bool follows_letter = false;
  for (const std::string_view character : CodePoints(text)) {
    if (!is_without_case(decode(character))) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("upper and lower case of '{}' are not supported: only those of ASCII are", character));
    }
    const char c = character[0];
    const bool upper = wanted == Case::kUpper || (wanted == Case::kTitle && !follows_letter) ||
                       (wanted == Case::kCapitalized && changed.empty());
    follows_letter = character.size() == 1 && core::is_ascii_letter(c);
    if (character.size() == 1) {
      changed += upper ? core::ascii_upper(c) : core::ascii_lower(c);
    } else {
      changed += character;
    }
  }
  return changed;
}

std::vector<std::size_t> slice_indices(const SliceBounds& slice, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  const bool forwards = slice.step > 0;
  const std::int64_t low = forwards ? 0 : -1;
  const std::int64_t high = forwards ? count : count - 1;
  const std::int64_t begin = slice.begin ? clamped(*slice.begin, count, low, high) : forwards ? low : high;
  const std::int64_t end = slice.end ? clamped(*slice.end, count, low, high) : forwards ? high : low;
  // A step beyond the size selects one item. Clamping it prevents an overflow.
  const std::int64_t step = std::clamp(slice.step, -count - 1, count + 1);
  std::vector<std::size_t> indices;
  for (std::int64_t i = begin; forwards ? i < end : i > end; i += step)
    indices.push_back(static_cast<std::size_t>(i));
  return indices;
}

std::string text_of(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Result<std::string> text_of(const Value& value) {
  if (value.is_text() || value.is(Kind::kMarkup)) return value.as_text();
  std::string text;
  if (!value.is_undefined()) LB_RETURN_IF_ERROR(append_repr(value, text));
  return text;
}

Status append_repr(const Value& value, std::string& out) {
  switch (value.kind()) {
    case Kind::kUndefined:
      out += "Undefined";
      return {};
    case Kind::kNone:
      out += "None";
      return {};
    case Kind::kBoolean:
      out += value.as_boolean() ? "True" : "False";
      return {};
    case Kind::kInteger:
      out += fmt::format("{}", value.as_integer());
      return {};
    case Kind::kFloat:
      out += text_of(value.as_double());
      return {};
    case Kind::kText:
      append_quoted(value.as_text(), out);
      return {};
    case Kind::kList:
    case Kind::kTuple: {
      const bool is_tuple = value.is(Kind::kTuple);
      out += is_tuple ? '(' : '[';
      for (std::size_t i = 0; i < value.as_items().size(); ++i) {
        if (i > 0) out += ", ";
        LB_RETURN_IF_ERROR(append_repr(value.as_items()[i], out));
      }
      if (is_tuple && value.as_items().size() == 1) out += ',';
      out += is_tuple ? ')' : ']';
      return {};
    }
    case Kind::kDict: {
      std::string_view before = "{";
      for (const auto& [key, member] : value.as_members()) {
        out += before;
        LB_RETURN_IF_ERROR(append_repr(key, out));
        out += ": ";
        LB_RETURN_IF_ERROR(append_repr(member, out));
        before = ", ";
      }
      out += before == "{" ? "{}" : "}";
      return {};
    }
    default:
      return {StatusCode::kUnsupported, fmt::format("the text of {} is not supported", name_of(value.kind()))};
  }
}

}  // namespace latebind::templates
