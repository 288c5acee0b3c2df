#include "core/config.h"

#include <fmt/format.h>

#include <charconv>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::core {

Status unknown_word_error(std::string_view what, std::string_view given, std::span<const std::string_view> known,
                          std::string_view listed) {
  const std::string_view nearest = nearest_word(given, known);
  return Status(StatusCode::kInvalidArgument,
                fmt::format("unknown {} {}{}; {}", what, quoted(given, 64),
                            nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                            listed.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : std::string(listed)));
}

Result<std::int64_t> parse_integer(std::string_view what, std::string_view given, std::int64_t least,
                                   std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, value);
  if (given.empty() || error != std::errc() || stop != end || value < least || value > most) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} must be a whole number from {} to {}, not {}", what, least, most, quoted(given, 64)));
  }
  return value;
}

}  // namespace latebind::core
