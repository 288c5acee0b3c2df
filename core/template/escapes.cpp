#include "core/template/escapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/text/ascii.h"
#include "core/text/utf8.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// The escapes of one letter, such as \n.
struct Simple {
  char letter;
  char meaning;
};
constexpr Simple kSimple[] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
                              {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};

std::size_t hexadecimal_digits(char letter) {
  return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

Result<char32_t> code_point_of(std::string_view digits, char letter) {
  char32_t c = 0;
  if (digits.size() < hexadecimal_digits(letter)) {
    return Status(StatusCode::kInvalidModel, fmt::format("a string ends within an escape \\{}", letter));
  }
  for (const char digit : digits) {
    const auto value = core::hexadecimal_digit(digit);
    if (!value) return Status(StatusCode::kInvalidModel, fmt::format("an escape \\{} without its digits", letter));
    c = c << 4 | *value;
  }
  if (c > 0x10FFFF) return Status(StatusCode::kInvalidModel, "an escape of a character above U+10FFFF");
  if (c >= 0xD800 && c < 0xE000) return Status(StatusCode::kUnsupported, "escapes of surrogates are not supported");
  return c;
}

}  // namespace

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  const auto put = [&out](char32_t c) { core::encode_utf8(c, [&out](char byte) { out += byte; }); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char letter = text[++i];
    const auto* const simple = std::ranges::find(kSimple, letter, &Simple::letter);
    if (simple != std::end(kSimple)) {
      out += simple->meaning;
    } else if (letter == '\n') {
      // A backslash before a line end joins the lines.
    } else if (const std::size_t count = hexadecimal_digits(letter); count > 0) {
      LB_ASSIGN_OR_RETURN(const char32_t c, code_point_of(text.substr(i + 1, count), letter));
      put(c);
      i += count;
    } else if (letter >= '0' && letter <= '7') {
      char32_t c = 0;
      std::size_t size = 0;
      for (; size < 3 && i + size < text.size() && text[i + size] >= '0' && text[i + size] <= '7'; ++size)
        c = c * 8 + static_cast<char32_t>(text[i + size] - '0');
      put(c);
      i += size - 1;
    } else if (letter == 'N') {
      return Status(StatusCode::kUnsupported, "escapes of characters by their names (\\N) are not supported");
    } else {
      out += '\\';
      out += letter;
    }
  }
  return out;
}

}  // namespace latebind::templates
