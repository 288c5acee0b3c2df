#include "cli/terminal/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/terminal/help.h"
#include "core/text/pieces.h"

namespace latebind::cli {
namespace {

// Escapes text for roff: hyphens that can be copied, no accidental requests, and only ASCII.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else if (static_cast<unsigned char>(c) >= 0xC0) {
      out += "...";  // "N,N,…"
    }
  }
  return out;
}

// Lines that begin with a blank are kept; others are filled, and a blank line begins a paragraph.
std::string paragraphs(std::string_view text) {
  std::string out;
  bool is_kept = false;
  const auto keep = [&](bool kept) {
    if (is_kept != kept) out += kept ? ".nf\n" : ".fi\n";
    is_kept = kept;
  };
  while (!text.empty()) {
    const std::string_view line = core::take_until(text, '\n');
    keep(line.starts_with(' '));
    out += line.empty() ? ".PP\n" : escaped(line) + "\n";
  }
  keep(false);
  return out;
}

void add_options(const Command& command, std::string& page) {
  std::string_view group = "-";
  for (const Option* const option : options_in_order(command)) {
    if (option->group() != group)
      page += fmt::format(".SH {}\n", option->group().empty() ? "OPTIONS" : escaped(option->group()));
    group = option->group();
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(option_title(*option)), escaped(option->help()));
  }
}

}  // namespace

std::string manual_name(const Command& command) {
  std::string name = command.full_name();
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const Command& command) {
  const std::string name = manual_name(command);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"latebind " LATEBIND_VERSION "\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR\n",
                  escaped(name), escaped(name), escaped(command.description()), escaped(usage(command)));
  const auto subcommands = command.subcommands();
  if (!subcommands.empty()) page += ".SH COMMANDS\n";
  for (const Command* const sub : subcommands)
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(sub->name()), escaped(sub->description()));
  add_options(command, page);
  if (!command.footer().empty()) page += fmt::format(".SH NOTES\n{}", paragraphs(command.footer()));
  return page + ".SH SEE ALSO\nlatebind(1)\n";
}

}  // namespace latebind::cli
