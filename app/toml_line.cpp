#include "app/toml_line.h"

#include <fmt/format.h>

#include "app/settings.h"
#include "core/text/ascii.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

std::string_view trimmed(std::string_view text) {
  return core::trimmed(text, " \t\r");
}

}  // namespace

std::optional<std::string> unclosed_quote(std::string_view toml, std::size_t line) {
  std::string_view wanted;
  for (std::size_t at = 1; at <= line && !toml.empty(); ++at)
    wanted = trimmed(core::take_until(toml, '\n'));
  char quote = 0;
  std::size_t opened = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const char c = wanted[i];
    if (quote == 0) {
      if (c == '#') break;
      if (c != '"' && c != '\'') continue;
      // Texts of several lines have three quotes.
      if (wanted.substr(i).starts_with(std::string(3, c))) return std::nullopt;
      quote = c;
      opened = i;
    } else if (c == '\\' && quote == '"') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    }
  }
  if (quote == 0) return std::nullopt;
  return fmt::format("the quote at column {} is not closed: {}", opened + 1, core::printable(wanted));
}

std::optional<std::string> unquoted_value(std::string_view toml, std::size_t line) {
  std::string_view wanted;
  std::string table;
  for (std::size_t at = 1; at <= line && !toml.empty(); ++at) {
    wanted = trimmed(core::take_until(toml, '\n'));
    // [server]
    if (at < line && wanted.starts_with('[') && !wanted.starts_with("[[")) {
      const std::string_view name = trimmed(wanted.substr(1, wanted.find(']') - 1));
      table = name.empty() ? "" : fmt::format("{}.", name);
    }
  }
  const auto equals = wanted.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view key = trimmed(wanted.substr(0, equals));
  std::string_view value = trimmed(wanted.substr(equals + 1));
  value = trimmed(value.substr(0, value.find('#')));
  constexpr std::string_view kOthers = "\"'[{";
  if (value.empty() || kOthers.find(value.front()) != std::string_view::npos ||
      value.find('"') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string full = table + std::string(key);
  const SettingSpec* const spec = find_setting(full);
  if (spec == nullptr) return std::string(unknown_setting_error(full).message());
  const std::string given = fmt::format("{} = {}", core::printable(key), core::printable(value));
  Settings scratch;
  const core::Status fits = spec->assign(scratch, full, value);
  if (!fits.ok()) return fmt::format("{}: {}", given, fits.message());
  if (spec->is_truth()) return fmt::format("{}: is {}, without quotes", given, spec->value);
  return fmt::format("{0}: a text needs quotes: {1} = \"{2}\"", given, core::printable(key), core::printable(value));
}

}  // namespace latebind::app
