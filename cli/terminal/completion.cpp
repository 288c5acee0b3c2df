#include "cli/terminal/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/terminal/help.h"
#include "core/text/option_text.h"

namespace latebind::cli {
namespace {

constexpr std::string_view kBash =
    "# Completion of latebind for bash.\n"
    "_latebind() {\n"
    "  local line\n"
    "  COMPREPLY=()\n"
    "  while IFS= read -r line; do\n"
    "    COMPREPLY+=(\"${line%%$'\\t'*}\")\n"
    "  done < <(\"${COMP_WORDS[0]}\" complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -o bashdefault -o default -F _latebind latebind\n";

constexpr std::string_view kZsh =
    "#compdef latebind\n"
    "# Completion of latebind for zsh.\n"
    "_latebind() {\n"
    "  local -a lines\n"
    "  lines=(${(f)\"$($words[1] complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "  if (( $#lines )); then\n"
    "    lines=(\"${(@)lines//:/\\\\:}\")\n"
    "    lines=(\"${(@)lines//$'\\t'/:}\")\n"
    "    _describe latebind lines\n"
    "  else\n"
    "    _files\n"
    "  fi\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _latebind \"$@\"; else compdef _latebind latebind; fi\n";

constexpr std::string_view kFish =
    "# Completion of latebind for fish.\n"
    "complete -c latebind -a '(set -l words (commandline -opc); command $words[1] complete -- $words[2..-1] "
    "(commandline -ct) 2>/dev/null)'\n";

void add_values(const Option& option, std::string_view begun, std::string_view before, std::vector<Candidate>& found) {
  // In a list, the last item is completed, with a word that is not in the list yet.
  const std::size_t comma = option.is_list_of_words() ? begun.rfind(',') : std::string_view::npos;
  const std::string_view items = comma == std::string_view::npos ? std::string_view() : begun.substr(0, comma + 1);
  const std::vector<std::string_view> given = core::list_items(items);
  for (const std::string& word : option.words()) {
    if (!word.starts_with(begun.substr(items.size())) || std::ranges::find(given, word) != given.end()) continue;
    found.push_back({fmt::format("{}{}{}", before, items, word), {}});
  }
}

void add_options(const Command* command, std::string_view begun, std::vector<Candidate>& found) {
  for (; command != nullptr; command = command->parent()) {
    for (const Option& option : command->options()) {
      for (const std::string& name : option.names()) {
        // Only the long name is offered.
        if (name == option.name() && name.starts_with(begun)) found.push_back({name, first_sentence(option.help())});
      }
      if (!option.is_negatable()) continue;
      const std::string no = "--no-" + option.name().substr(2);
      if (begun.starts_with("--no") && no.starts_with(begun)) found.push_back({no, {}});
    }
  }
}

}  // namespace

std::vector<Candidate> candidates(const Command& program, std::span<const std::string> words) {
  std::vector<Candidate> found;
  if (words.empty()) return found;
  const std::string& begun = words.back();
  const Command* command = &program;
  const Option* value_of = nullptr;
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "--") return found;
    // bash splits "--name=value" into three words.
    if (word == "=") continue;
    if (std::exchange(value_of, nullptr) != nullptr) continue;
    if (word.starts_with('-')) {
      const Option* const option = command->find_option(word);
      if (option != nullptr && !option->is_flag()) value_of = option;
    } else if (const Command* const sub = command->find_subcommand(word)) {
      command = sub;
    }
  }
  const auto equals = begun.find('=');
  if (value_of != nullptr) {
    add_values(*value_of, begun == "=" ? "" : begun, "", found);
  } else if (begun.starts_with("--") && equals != std::string::npos) {
    const Option* const option = command->find_option(begun.substr(0, equals));
    if (option != nullptr) {
      add_values(*option, std::string_view(begun).substr(equals + 1), std::string_view(begun).substr(0, equals + 1),
                 found);
    }
  } else if (begun.starts_with('-')) {
    add_options(command, begun, found);
  } else {
    for (const Command* const sub : command->subcommands())
      if (sub->name().starts_with(begun)) found.push_back({sub->name(), sub->description()});
    for (const Option& option : command->options())
      if (option.is_positional()) add_values(option, begun, "", found);
  }
  return found;
}

std::string_view completion_script(std::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : std::string_view();
}

}  // namespace latebind::cli
