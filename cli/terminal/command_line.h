// The grammar of the command line, and the program's commands and options as data, from which parsing, help, man pages
// and shell completion are derived. The grammar:
//
//   - A word that begins with "-" is an option: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, and flags without a
//     value, whose letters can be combined (-qv). "-" alone is not an option, and neither is any word after "--".
//   - Every other word is an argument and goes to the first positional option without a value; the last one may take
//     several. If a positional option also has names ("MODEL,-m,--model"), a value given by name counts, and all
//     arguments go to the other options.
//   - A positional option whose value may also come from a variable of the environment takes it if there are too few
//     arguments for all required options; the arguments then go to the others.
//   - The options of a command's parents are accepted after the command as well, as are -h, --help, -V and --version.
//
// A line is parsed as a whole before any value is taken. -h takes precedence over mistakes. For one thread.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/status.h"

namespace latebind::cli {

// What happens if an option is given several times.
enum class Repeat {
  kError,   // it is an error
  kLast,    // the last one counts
  kEach,    // every value is taken
  kJoined,  // the values are joined with commas
};

// An option of a command. The functions that configure it return it, so that they can be chained.
class Option {
 public:
  // Takes a value. Returns an error, which will name the option, for an invalid value.
  using Take = std::function<core::Status(const std::string& text)>;

  // `names` is "-o,--output", "FILE" for a positional option, or both as in "MODEL,-m,--model". `value_name` is empty
  // for flags, which take "true" and "false".
  Option(std::string_view names, std::string value_name, std::string help, Take take);

  Option* required();
  Option* repeats(Repeat repeat);
  // Sets the name of the value in help.
  Option* type_name(std::string name);
  // Sets the heading under which help shows the option. "" is "Options".
  Option* group(std::string title);
  // Limits the entry in a command's list of options to the first sentence of the help. docs/ has the rest.
  Option* brief();
  // Sets whether -h shows the option.
  Option* main(bool is_main);
  // Makes each value a list with this delimiter, whose items are taken one by one.
  Option* delimiter(char character);
  Option* excludes(const Option* other);
  // Accepts --no-NAME for --NAME=false. For flags only.
  Option* negatable();
  // Sets whether the value, once it is taken, was an argument rather than given by name or by a variable.
  Option* note_argument(bool& is_argument);
  // Sets a function that checks each value before it is taken.
  Option* check(Take see);
  // Sets the possible values, for completion. `is_list`: a value is a list of them with commas.
  Option* words(std::vector<std::string> all, bool is_list = false);
  // Sets where a required positional option takes its value from if the line has none: a variable, which messages name,
  // and a function that reads it; std::nullopt if it is not set.
  using Elsewhere = std::function<core::Result<std::optional<std::string>>()>;
  Option* variable(std::string name, Elsewhere read);

  [[nodiscard]] bool is_flag() const { return value_name_.empty(); }
  [[nodiscard]] bool is_positional() const { return !positional_.empty(); }
  [[nodiscard]] bool is_required() const { return required_; }
  [[nodiscard]] bool is_brief() const { return brief_; }
  [[nodiscard]] bool is_main() const { return main_; }
  [[nodiscard]] bool is_negatable() const { return negatable_; }
  [[nodiscard]] bool takes_several() const { return repeat_ == Repeat::kEach; }
  [[nodiscard]] const std::string& positional() const { return positional_; }     // "FILE"
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }  // "-o", "--output"
  [[nodiscard]] const std::string& value_name() const { return value_name_; }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] bool is_list_of_words() const { return is_list_of_words_; }
  // The name in messages: "--output", or "FILE" for a purely positional option.
  [[nodiscard]] const std::string& name() const { return names_.empty() ? positional_ : names_.back(); }
  [[nodiscard]] bool has_name(std::string_view name) const;

 private:
  friend class Command;
  friend class LineReader;

  std::string positional_;
  std::vector<std::string> names_;
  std::string value_name_;
  std::string help_;
  std::string group_;
  std::vector<std::string> words_;
  std::string variable_;
  Elsewhere elsewhere_;
  Take take_;
  Take check_;
  Repeat repeat_ = Repeat::kError;
  char delimiter_ = 0;
  bool required_ = false;
  bool brief_ = false;
  bool main_ = true;
  bool negatable_ = false;
  bool is_list_of_words_ = false;
  const Option* excluded_ = nullptr;
  bool* is_argument_ = nullptr;
};

// A command, or the program itself. Options and subcommands have stable addresses while the command lives.
class Command {
 public:
  Command(std::string name, std::string description, const Command* parent = nullptr);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(std::string name, std::string description);
  Option* add_option(std::string_view names, Option::Take take, std::string help);
  Option* add_option(std::string_view names, std::string& target, std::string help = {});
  Option* add_option(std::string_view names, std::optional<std::string>& target, std::string help);
  // Takes one value each time and may be repeated.
  Option* add_option(std::string_view names, std::vector<std::string>& target, std::string help);
  Option* add_flag(std::string_view names, bool& target, std::string help);
  Option* add_flag(std::string_view names, Option::Take take, std::string help);
  // Sets the text below the options in help. Lines that begin with a blank are kept; others are filled.
  void footer(std::string text) { footer_ = std::move(text); }
  // Sets the function to call after the values of a line that selects this command have been taken.
  void callback(std::function<void()> call) { callback_ = std::move(call); }
  // Requires one of the subcommands.
  void require_subcommand() { needs_subcommand_ = true; }
  // Hides the command from help; it is for the program itself.
  void hide() { hidden_ = true; }

  [[nodiscard]] const std::string& name() const { return name_; }
  // "latebind bench embed"
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const std::string& footer() const { return footer_; }
  [[nodiscard]] const Command* parent() const { return parent_; }
  [[nodiscard]] bool needs_subcommand() const { return needs_subcommand_; }
  [[nodiscard]] const std::deque<Option>& options() const { return options_; }
  // The subcommands that help shows.
  [[nodiscard]] std::vector<const Command*> subcommands() const;
  // Returns the option with this name, of this command or a parent, or null.
  [[nodiscard]] const Option* find_option(std::string_view name) const;
  // Returns the subcommand with this name, or null.
  [[nodiscard]] const Command* find_subcommand(std::string_view name) const;

 private:
  friend class LineReader;

  const std::string name_;
  const std::string description_;
  const Command* const parent_;
  std::string footer_;
  std::function<void()> callback_;
  bool needs_subcommand_ = false;
  bool hidden_ = false;
  std::deque<Option> options_;
  std::deque<Command> subcommands_;
};

// The meaning of a command line.
struct ReadLine {
  const Command* command = nullptr;  // as far as the line was understood
  // If a line requests several of these, the last in this order counts.
  enum class Request { kRun, kVersion, kShortHelp, kFullHelp, kMistake } request = Request::kRun;
  core::Status mistake{};
  std::vector<const Option*> flags{};  // the flags that are set
};

// Parses the words after the program's name, passes all values to their options, and calls the callback of the command.
// Calls nothing if there is a mistake or help is requested.
[[nodiscard]] ReadLine read_line(const Command& program, std::span<const std::string> words);

}  // namespace latebind::cli
