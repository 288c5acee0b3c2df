// The command line as data: the program's commands with their options, from which lines are read, help, man pages and
// shell completion are made. One grammar for all of them:
//
//   - A word that begins with "-" is an option: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, and flags alone, whose
//     letters may stand together (-qv). "-" alone is no option, and neither is anything behind "--".
//   - Every other word is an argument and goes to the first positional option that has no value yet; the last one may
//     take several. Where a positional option also has names ("MODEL,-m,--model"), a value given by name counts too, so
//     that all arguments are left to the others.
//   - The options of a command's parents are taken behind the command as well. -h, --help and --version are known to
//   all.
//
// A line is read as a whole before any value is taken; -h wins over mistakes. One thread.
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

// What happens to the values of an option that is given several times.
enum class Repeat {
  kError,   // a mistake of the line
  kLast,    // the last one counts
  kEach,    // each of them is taken
  kJoined,  // they are one value, with commas between
};

// One option of a command. The functions that describe it return it, for chains.
class Option {
 public:
  // Takes a value; an error is one of the line, and names the option.
  using Take = std::function<core::Status(const std::string& text)>;

  // `names`: "-o,--output", "FILE" for a positional option, or both as in "MODEL,-m,--model". `value_name` is empty for
  // flags, which take "true" and "false".
  Option(std::string_view names, std::string value_name, std::string help, Take take);

  Option* required();
  Option* repeats(Repeat repeat);
  // The value as help shows it.
  Option* type_name(std::string name);
  // The heading below which help shows it; "" is "Options".
  Option* group(std::string title);
  // The first sentence of its help is enough where all of a command's options are listed: the story is in docs/.
  Option* brief();
  // Among the options that -h shows.
  Option* main(bool is_main);
  // Each value is a list with this character between its items, which are taken one by one.
  Option* delimiter(char character);
  Option* excludes(const Option* other);
  // --no-NAME means --NAME=false. Flags only.
  Option* negatable();
  // Sees each value before it is taken.
  Option* check(Take see);
  // The words that a value may be, for completion.
  Option* words(std::vector<std::string> all);

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
  // As messages call it: "--output", or "FILE" where it has no other name.
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
  Take take_;
  Take check_;
  Repeat repeat_ = Repeat::kError;
  char delimiter_ = 0;
  bool required_ = false;
  bool brief_ = false;
  bool main_ = true;
  bool negatable_ = false;
  const Option* excluded_ = nullptr;
};

// A command, or the program itself. Options and subcommands stay where they are for the command's life.
class Command {
 public:
  Command(std::string name, std::string description, const Command* parent = nullptr);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(std::string name, std::string description);
  Option* add_option(std::string_view names, Option::Take take, std::string help);
  Option* add_option(std::string_view names, std::string& target, std::string help = {});
  Option* add_option(std::string_view names, std::optional<std::string>& target, std::string help);
  // One value each time; takes several.
  Option* add_option(std::string_view names, std::vector<std::string>& target, std::string help);
  Option* add_flag(std::string_view names, bool& target, std::string help);
  Option* add_flag(std::string_view names, Option::Take take, std::string help);
  // What help tells below the options. Lines that begin with a blank stay as they are; others are filled.
  void footer(std::string text) { footer_ = std::move(text); }
  // Is called when a line that chose this command has been taken.
  void callback(std::function<void()> call) { callback_ = std::move(call); }
  // A line must go on with one of the subcommands.
  void require_subcommand() { needs_subcommand_ = true; }
  // Help does not show it: for the program itself.
  void hide() { hidden_ = true; }

  [[nodiscard]] const std::string& name() const { return name_; }
  // "latebind bench embed"
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const std::string& footer() const { return footer_; }
  [[nodiscard]] const Command* parent() const { return parent_; }
  [[nodiscard]] bool needs_subcommand() const { return needs_subcommand_; }
  [[nodiscard]] const std::deque<Option>& options() const { return options_; }
  // Those that help shows.
  [[nodiscard]] std::vector<const Command*> subcommands() const;
  // The option with this name, of this command or one of its parents; null if there is none.
  [[nodiscard]] const Option* find_option(std::string_view name) const;
  // The subcommand with this name; null if there is none.
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

// What a line means.
struct ReadLine {
  const Command* command = nullptr;  // as far as it was understood
  // Of those that a line has, the last one of these counts.
  enum class Wish { kRun, kVersion, kShortHelp, kFullHelp, kMistake } wish = Wish::kRun;
  core::Status mistake{};
  std::vector<const Option*> flags{};  // those that are set
};

// Reads the words behind the program's name, gives all values to the options that take them, and calls the callback of
// the command. Where there is a mistake, or help is wanted, nothing is called.
[[nodiscard]] ReadLine read_line(const Command& program, std::span<const std::string> words);

}  // namespace latebind::cli
