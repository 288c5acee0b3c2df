#include "cli/terminal/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text/ascii.h"
#include "core/text/pieces.h"

namespace latebind::cli {
namespace {

constexpr std::size_t kLinesMax = 24;  // of a screen
constexpr std::size_t kTitleMax = 28;  // of -h, including the blanks around it
constexpr std::size_t kWordsMin = 20;  // in a line, even on a narrow terminal

// Fills `text` into lines of at most `columns` characters, each after `indent`.
std::string filled(std::string_view text, std::string_view indent, std::size_t columns) {
  columns = std::max(columns, indent.size() + kWordsMin);
  std::string out;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) out += fmt::format("{}{}\n", indent, line);
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = core::take_until(text, ' ');
    if (word.empty()) continue;
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) end_line();
    if (!line.empty()) line += ' ';
    line += word;
  }
  end_line();
  return out;
}

// How a line that is too long is broken.
struct Break {
  std::string_view behind = " ";  // characters that a piece may end with
  bool is_command = false;        // a shell's: not within quotes, and with a backslash at the end
  std::size_t indent = 0;         // of the second piece and those that follow
};

// `line` in pieces of at most `columns` characters, where it can be broken.
std::string broken(std::string_view line, std::size_t columns, const Break& how) {
  std::string out;
  std::string indent;
  while (true) {
    const std::size_t room = std::max(columns - std::min(columns, indent.size()), kWordsMin);
    const std::size_t most = room - (how.is_command ? 2 : 0);  // for " \\"
    std::size_t end = std::string_view::npos;
    char quote = 0;
    for (std::size_t i = std::min(line.find_first_not_of(' '), line.size()); i < line.size() && line.size() > room;
         ++i) {
      const char c = line[i];
      if (how.is_command && (quote == 0 ? c == '\'' || c == '"' : c == quote)) quote = quote == 0 ? c : '\0';
      if (quote != 0 || how.behind.find(c) == std::string_view::npos) continue;
      const std::size_t here = c == ' ' ? i : i + 1;
      if (here > most && end != std::string_view::npos) break;
      end = here;
      if (here > most) break;
    }
    if (end == std::string_view::npos || line.find_first_not_of(" \\", end) == std::string_view::npos)
      return out + fmt::format("{}{}\n", indent, line);
    out += fmt::format("{}{}{}\n", indent, line.substr(0, end), how.is_command ? " \\" : "");
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    indent = std::string(how.indent, ' ');
  }
}

// A line that begins with a blank: a shell's command, or a word and what it means.
std::string kept(std::string_view line, std::size_t columns, bool& goes_on) {
  const bool is_command = goes_on || line.find("latebind ") != std::string_view::npos;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::size_t indent = begin + (is_command && !goes_on ? 4 : 0);
  if (const auto gap = line.find("  ", begin); !is_command && gap != std::string_view::npos)
    indent = std::min(line.find_first_not_of(' ', gap), line.size());
  goes_on = is_command && line.ends_with('\\');
  return broken(line, columns, {.is_command = is_command, .indent = indent});
}

// Fills paragraphs. Lines that begin with a blank are kept.
std::string paragraphs(std::string_view text, std::size_t columns) {
  std::string out;
  std::string paragraph;
  bool goes_on = false;
  const auto end_paragraph = [&] {
    out += filled(paragraph, "", columns);
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::string_view line = core::take_until(text, '\n');
    if (!line.empty() && line.front() != ' ') {
      paragraph += fmt::format("{}{}", paragraph.empty() ? "" : " ", line);
      // "Examples:" stays on a separate line.
      if (line.ends_with(':')) end_paragraph();
      continue;
    }
    end_paragraph();
    out += kept(line, columns, goes_on);
  }
  end_paragraph();
  return out;
}

// Returns "Examples:" and what follows in a footer.
std::string_view examples_of(std::string_view footer) {
  const auto at = footer.find("Example");
  return at == std::string_view::npos || (at > 0 && footer[at - 1] != '\n') ? std::string_view() : footer.substr(at);
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string cut(std::string text, std::size_t columns) {
  if (text.size() <= columns) return text;
  const auto blank = text.rfind(' ', columns - 4);
  return text.substr(0, blank) + " ...";
}

std::string commands_text(const Command& command, std::size_t columns) {
  std::string text;
  for (const Command* const sub : command.subcommands())
    text += cut(fmt::format("  {:<10} {}", sub->name(), sub->description()), columns) + "\n";
  return text;
}

std::string option_text(const Option& option, std::size_t columns) {
  const std::string help = option.is_brief() ? first_sentence(option.help()) : option.help();
  const std::string title = fmt::format("  {}{}", option_title(option),
                                        option.is_required() && !option.is_positional() ? "  (required)" : "");
  return broken(title, columns, {.behind = " |", .indent = 6}) + filled(help, "        ", columns);
}

// Shortens the help to one line, at a point where it is still meaningful.
std::string summary(const Option& option, std::size_t columns) {
  std::string text = first_sentence(option.help());
  if (text.find(". ") == std::string::npos && text.ends_with('.')) text.pop_back();
  if (text.size() <= columns) return text;
  for (const std::string_view end : {" (default", ". ", "; ", " (", ": "}) {
    const auto at = text.find(end);
    if (at != std::string::npos && at <= columns) return text.substr(0, at);
  }
  return cut(text, columns);
}

std::string usage_text(const Command& command, std::size_t columns) {
  return broken("Usage: " + usage(command), columns, {.indent = 11});
}

std::vector<std::string_view> groups_of(const Command& command) {
  std::vector<std::string_view> groups;
  for (const Option* const option : options_in_order(command))
    if (std::ranges::find(groups, option->group()) == groups.end()) groups.push_back(option->group());
  return groups;
}

}  // namespace

std::vector<const Option*> options_in_order(const Command& command) {
  std::vector<const Option*> options;
  for (const Option& option : command.options())
    options.push_back(&option);
  std::ranges::stable_sort(options, {}, [](const Option* option) {
    if (option->is_positional()) return 0;
    if (option->group().empty()) return option->is_main() ? 1 : 2;
    return option->is_brief() ? 4 : 3;
  });
  return options;
}

namespace {

// "[FILE...]"
std::string argument_title(const Option& option) {
  const std::string name = option.positional() + (option.takes_several() ? "..." : "");
  return option.is_required() ? name : fmt::format("[{}]", name);
}

// The title if it fits into one line.
std::string short_title(const Option& option) {
  if (option.is_positional()) return argument_title(option);
  const std::string title = option_title(option);
  // The long help shows the form of a long list of values.
  return title.size() <= kTitleMax || option.is_flag()
             ? title
             : option.name() + " " + option.value_name().substr(0, option.value_name().find_first_of(":|"));
}

}  // namespace

std::string option_title(const Option& option) {
  std::string title;
  for (const std::string& name : option.names())
    title += (title.empty() ? "" : ", ") + name;
  if (option.is_negatable()) title += ", --no-" + option.name().substr(2);
  if (option.is_positional()) {
    if (title.empty()) return argument_title(option);
    title = argument_title(option) + ", " + title;
  }
  return option.is_flag() ? title : title + " " + option.value_name();
}

std::string usage(const Command& command) {
  std::string text = command.full_name();
  if (command.needs_subcommand()) return text + " COMMAND ...";
  for (const Option& option : command.options()) {
    if (option.is_positional()) text += " " + argument_title(option);
  }
  for (const Option& option : command.options()) {
    if (option.is_required() && !option.is_positional())
      text += fmt::format(" {} {}", option.name(), option.value_name());
  }
  return text + " [OPTIONS]";
}

std::string first_sentence(std::string_view help) {
  std::size_t end = help.find(". ");
  const auto bracket = help.rfind(" (default");
  const std::string_view behind = bracket == std::string_view::npos ? std::string_view() : help.substr(bracket);
  if (end == std::string_view::npos || end > bracket) return std::string(help);
  // The default follows the last sentence.
  return fmt::format("{}{}", help.substr(0, behind.empty() ? end + 1 : end), behind);
}

std::string short_help(const Command& command, std::size_t columns) {
  std::string text = usage_text(command, columns) + filled(command.description(), "", columns);
  const std::string commands = commands_text(command, columns);
  text += commands;
  const std::string_view examples = examples_of(command.footer());
  const std::string end = examples.empty() ? "" : "\n" + paragraphs(examples, columns);
  std::vector<const Option*> shown;
  std::size_t left_out = 0;
  // Reserves a blank line and the line about omitted options.
  const std::size_t room = kLinesMax - std::min(kLinesMax, lines_of(text) + lines_of(end) + 3);
  for (const Option* const option : options_in_order(command)) {
    if (option->is_main() && shown.size() < room) {
      shown.push_back(option);
    } else {
      ++left_out;
    }
  }
  if (!shown.empty()) text += "\n";
  for (const Option* const option : shown) {
    const std::string title = fmt::format("  {:<{}}", short_title(*option), kTitleMax - 2);
    text += fmt::format("{}  {}\n", title, summary(*option, columns - std::min(columns - kWordsMin, title.size() + 2)));
  }
  text += end;
  if (commands.empty()) text += "\n";
  return text + (left_out > 0 ? fmt::format("{} more options: {} --help\n", left_out, command.full_name())
                              : fmt::format("More: {} --help\n", command.full_name()));
}

std::string full_help(const Command& command, std::size_t columns) {
  std::string text = filled(command.description(), "", columns) + "\n" + usage_text(command, columns);
  const std::string commands = commands_text(command, columns);
  if (!commands.empty()) text += "\nCommands:\n" + commands;
  for (const std::string_view group : groups_of(command)) {
    text +=
        "\n" + broken(fmt::format("{}:", group.empty() ? std::string_view("Options") : group), columns, {.indent = 2});
    for (const Option* const option : options_in_order(command))
      if (option->group() == group) text += option_text(*option, columns);
  }
  if (!command.footer().empty()) text += "\n" + paragraphs(command.footer(), columns);
  return text;
}

}  // namespace latebind::cli
