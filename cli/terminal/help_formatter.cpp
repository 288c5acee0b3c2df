#include "cli/terminal/help_formatter.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

namespace latebind::cli {
namespace {

constexpr std::size_t kColumns = 79;
constexpr std::string_view kIndent = "        ";

// Words of `text` in lines of kColumns, each behind kIndent. Line ends in `text` are kept.
std::string wrapped(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string filled;
    for (std::string word; words >> word;) {
      if (!filled.empty() && kIndent.size() + filled.size() + 1 + word.size() > kColumns) {
        out += fmt::format("{}{}\n", kIndent, filled);
        filled.clear();
      }
      if (!filled.empty()) filled += ' ';
      filled += word;
    }
    out += fmt::format("{}{}\n", kIndent, filled);
  }
  return out;
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  // The parser's own notation for "--no-x means x is false".
  constexpr std::string_view kNegated = "{false}";
  if (const auto at = name.find(kNegated); at != std::string::npos) name.erase(at, kNegated.size());
  return fmt::format("  {}{}\n{}", name, is_positional ? "" : make_option_opts(option),
                     wrapped(make_option_desc(option)));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  return fmt::format(" {}{}", option->get_type_name(), option->get_required() ? "  (required)" : "");
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, name);
  // Required options belong into the line that people copy.
  std::string required;
  for (const CLI::Option* option : app->get_options()) {
    if (option->nonpositional() && option->get_required()) {
      required += fmt::format(" {} {}", make_option_name(option, false), option->get_type_name());
    }
  }
  const auto at = usage.find(" [OPTIONS]");
  if (at != std::string::npos) usage.insert(at, required);
  return usage;
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  return fmt::format("  {:<10}{}\n", sub->get_name(), sub->get_description());
}

}  // namespace latebind::cli
