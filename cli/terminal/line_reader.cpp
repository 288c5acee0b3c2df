// Parses the words of a command line by the grammar of command_line.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/terminal/command_line.h"
#include "core/config.h"
#include "core/text/ascii.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::cli {

using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kQuoted = 64;

Status mistake(std::string text) {
  return Status(StatusCode::kInvalidArgument, std::move(text));
}

bool is_option_word(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !core::is_ascii_digit(word[1]);
}

}  // namespace

// Parses one line. Not in the anonymous namespace, because it is a friend of Command and Option.
class LineReader {
 public:
  explicit LineReader(const Command& program) : command_(&program) {}

  ReadLine read(std::span<const std::string> words) {
    words_ = words;
    while (next_ < words_.size())
      take_word(words_[next_++]);
    if (request_ != ReadLine::Request::kRun) return {command_, request_, {}};
    if (mistake_.ok()) check_command();
    if (mistake_.ok()) read_variables();
    if (mistake_.ok()) assign_arguments();
    if (mistake_.ok()) check_options();
    if (mistake_.ok()) give_values();
    if (!mistake_.ok()) return reported_mistake();
    if (command_->callback_) command_->callback_();
    ReadLine line{command_, request_, {}};
    for (const Value& value : values_)
      if (value.option->is_flag() && value.text == "true") line.flags.push_back(value.option);
    return line;
  }

 private:
  struct Value {
    const Option* option = nullptr;  // null: an argument
    std::string text;
    bool is_argument = false;
  };

  // Records the first mistake of the line.
  void note_mistake(Status status) {
    if (!mistake_.ok()) return;
    mistake_ = std::move(status);
    mistaken_ = command_;
  }

  // Reports the mistake for the command where it occurred, since options of `embed` are unknown before that word.
  [[nodiscard]] ReadLine reported_mistake() const {
    bool ignored = false;
    if (mistaken_ != command_ && !unknown_.empty() && find(unknown_, ignored) != nullptr) {
      return {mistaken_, ReadLine::Request::kMistake,
              mistake(fmt::format("{} is an option of {}: write it after that word", core::quoted(unknown_, kQuoted),
                                  command_->name()))};
    }
    return {mistaken_, ReadLine::Request::kMistake, mistake_};
  }

  void take_word(const std::string& word) {
    if (only_arguments_ || !is_option_word(word)) return take_argument(word);
    if (word == "--") {
      only_arguments_ = true;
    } else if (word.starts_with("--")) {
      take_long(word);
    } else {
      take_letters(word);
    }
  }

  void take_argument(const std::string& word) {
    if (!command_->subcommands_.empty() && !only_arguments_) {
      if (const Command* const sub = command_->find_subcommand(word)) {
        command_ = sub;
        return;
      }
      return note_mistake(unknown_command(word));
    }
    values_.push_back({nullptr, word});
  }

  void take_long(const std::string& word) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name == "--help") return note_request(ReadLine::Request::kFullHelp);
    if (name == "--version") return note_request(ReadLine::Request::kVersion);
    bool is_negated = false;
    const Option* const option = find(name, is_negated);
    if (option == nullptr) return note_unknown(name);
    if (equals != std::string::npos) {
      if (is_negated) return note_mistake(mistake(fmt::format("{} takes no value", name)));
      values_.push_back({option, word.substr(equals + 1)});
    } else if (option->is_flag()) {
      values_.push_back({option, is_negated ? "false" : "true"});
    } else {
      take_value(*option, name);
    }
  }

  // Parses "-qk3".
  void take_letters(const std::string& word) {
    bool ignored = false;
    // A long name with a single hyphen.
    const std::string as_long = "-" + word.substr(0, word.find('='));
    if (as_long.size() > 3 && find(as_long, ignored) != nullptr) return note_mistake(unknown_option(as_long.substr(1)));
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      if (name == "-h") return note_request(ReadLine::Request::kShortHelp);
      if (name == "-V") return note_request(ReadLine::Request::kVersion);
      const Option* const option = find(name, ignored);
      if (option == nullptr) return note_unknown(i == 1 ? word.substr(0, word.find('=')) : name);
      if (option->is_flag()) {
        values_.push_back({option, "true"});
        continue;
      }
      if (i + 1 == word.size()) return take_value(*option, name);
      values_.push_back({option, word.substr(word[i + 1] == '=' ? i + 2 : i + 1)});
      return;
    }
  }

  void note_unknown(const std::string& name) {
    if (mistake_.ok()) unknown_ = name;
    note_mistake(unknown_option(name));
  }

  // The next word is the value, unless it is an option.
  void take_value(const Option& option, const std::string& name) {
    if (next_ == words_.size()) {
      return note_mistake(mistake(fmt::format("{} needs a value, {}", name, option.value_name())));
    }
    const std::string& word = words_[next_];
    bool ignored = false;
    if (is_option_word(word) && (word.starts_with("--") || find(word.substr(0, 2), ignored) != nullptr)) {
      return note_mistake(
          mistake(fmt::format("{0} needs a value, {1}, but {2} follows; if that is the value, write {0}{3}{2}", name,
                              option.value_name(), core::printable(word, kQuoted), name.starts_with("--") ? "=" : "")));
    }
    ++next_;
    values_.push_back({&option, word});
  }

  void note_request(ReadLine::Request request) { request_ = std::max(request_, request); }

  const Option* find(std::string_view name, bool& is_negated) const {
    constexpr std::string_view kNo = "--no-";
    if (const Option* const option = command_->find_option(name)) return option;
    if (!name.starts_with(kNo)) return nullptr;
    const Option* const option = command_->find_option("--" + std::string(name.substr(kNo.size())));
    is_negated = option != nullptr && option->is_negatable();
    return is_negated ? option : nullptr;
  }

  // Suggests the nearest option, by its letters, by its last word, such as --top-k for -k, or by its beginning, such as
  // --certificate for --cert.
  Status unknown_option(std::string_view given) const {
    std::vector<std::string> names;
    for (const Command* command = command_; command != nullptr; command = command->parent()) {
      for (const Option& option : command->options()) {
        names.insert(names.end(), option.names().begin(), option.names().end());
        if (option.is_negatable()) names.push_back("--no-" + option.name().substr(2));
      }
    }
    const auto behind_hyphens = [](std::string_view name) {
      return name.substr(std::min(name.find_first_not_of('-'), name.size()));
    };
    std::vector<std::string_view> words;
    for (const std::string_view name : names)
      words.push_back(behind_hyphens(name));
    const std::string_view whole = behind_hyphens(given);
    std::string_view word = whole;
    // Single letters resemble all others.
    constexpr std::size_t kLettersMin = 3;
    auto found = std::ranges::find(words, word);
    if (found == words.end() && word.size() >= kLettersMin)
      found = std::ranges::find(words, core::nearest_word(word, words));
    while (found == words.end() && word.find('-') != std::string_view::npos) {
      word.remove_prefix(word.find('-') + 1);
      found = std::ranges::find(words, word);
    }
    if (found == words.end() && whole.size() >= kLettersMin) {
      found = std::ranges::find_if(words, [&](std::string_view known) {
        return known.size() >= kLettersMin && (known.starts_with(whole) || whole.starts_with(known));
      });
    }
    return mistake(
        fmt::format("unknown option {}{}", core::quoted(given, kQuoted),
                    found == words.end()
                        ? std::string()
                        : fmt::format(" (did you mean {}?)", names[static_cast<std::size_t>(found - words.begin())])));
  }

  Status unknown_command(std::string_view given) const {
    std::vector<std::string_view> known;
    for (const Command* const command : command_->subcommands())
      known.push_back(command->name());
    // Elsewhere, `help` and `version` are commands.
    const std::string option = "--" + std::string(given);
    if (command_->find_option(option) != nullptr) {
      return mistake(fmt::format("unknown command {} (did you mean {}?)", core::quoted(given, kQuoted), option));
    }
    return core::unknown_word_error("command", given, known);
  }

  void check_command() {
    if (!command_->needs_subcommand()) return;
    std::string known;
    for (const Command* const command : command_->subcommands())
      known += (known.empty() ? "" : ", ") + command->name();
    note_mistake(mistake(fmt::format("no command is given; known: {}", known)));
  }

  [[nodiscard]] bool is_given(const Option& option) const {
    return std::ranges::any_of(values_, [&](const Value& value) { return value.option == &option; });
  }

  // Takes the values of required positional options from variables if the arguments do not suffice.
  void read_variables() {
    auto arguments = static_cast<std::size_t>(std::ranges::count(values_, nullptr, &Value::option));
    std::size_t needed = 0;
    for (const Option& option : command_->options())
      needed += option.is_positional() && option.is_required() && !is_given(option) ? 1 : 0;
    for (const Option& option : command_->options()) {
      if (!option.elsewhere_ || is_given(option) || arguments >= needed) continue;
      auto text = option.elsewhere_();
      if (!text.ok()) return note_mistake(text.status().with_context(option.variable_));
      if (!*text) continue;
      values_.push_back({&option, **std::move(text)});
      ++arguments;
    }
  }

  // Assigns arguments to the positional options.
  void assign_arguments() {
    std::vector<const Option*> places;
    for (const Option& option : command_->options())
      if (option.is_positional() && (option.takes_several() || !is_given(option))) places.push_back(&option);
    std::size_t place = 0;
    for (Value& value : values_) {
      if (value.option != nullptr) continue;
      if (place == places.size()) return note_mistake(mistake(unexpected(value.text)));
      value.option = places[place];
      value.is_argument = true;
      if (!places[place]->takes_several()) ++place;
    }
  }

  [[nodiscard]] std::string unexpected(std::string_view text) const {
    std::string why;
    for (const Option& option : command_->options()) {
      if (!option.is_positional()) continue;
      const auto value = std::ranges::find(values_, &option, &Value::option);
      why += fmt::format("{}{} is {}", why.empty() ? ": " : ", ", option.positional(),
                         value == values_.end() ? "missing" : core::quoted(value->text, kQuoted));
    }
    return fmt::format("unexpected argument {}{}", core::quoted(text, kQuoted), why);
  }

  void check_options() {
    std::vector<const Option*> missing;
    for (const Option& option : command_->options()) {
      const auto given = std::ranges::count(values_, &option, &Value::option);
      if (given > 1 && option.repeat_ == Repeat::kError) {
        note_mistake(mistake(fmt::format(
            "{0} is given {1} times, but takes one value{2}", option.name(), given,
            option.name() == "--device" ? "; several devices to try are one list: --device FIRST,SECOND" : "")));
      }
      if (given > 0 && option.excluded_ != nullptr && is_given(*option.excluded_)) {
        note_mistake(mistake(fmt::format("{} and {} exclude each other", option.name(), option.excluded_->name())));
      }
      if (given == 0 && option.is_required()) missing.push_back(&option);
    }
    if (missing.empty()) return;
    const Option& first = *missing.front();
    std::string text = first.is_positional() ? first.positional() : first.name() + " " + first.value_name();
    if (first.is_positional() && !first.names().empty()) {
      text += fmt::format(" (or {}{})", first.name(), first.variable_.empty() ? "" : ", or " + first.variable_);
    }
    text += " is required";
    // The only argument may have been meant for the missing option.
    const Option* taken = nullptr;
    for (const Option& option : command_->options()) {
      if (&option == &first) break;
      if (option.is_positional() && is_given(option)) taken = &option;
    }
    if (first.is_positional() && taken != nullptr) {
      const auto value = std::ranges::find(values_, taken, &Value::option);
      text += fmt::format(" ({} is taken for {})", core::quoted(value->text, kQuoted), taken->positional());
    }
    note_mistake(mistake(std::move(text)));
  }

  void give_values() {
    std::vector<const Option*> done;
    for (const Value& value : values_) {
      const Option& option = *value.option;
      const bool is_one = option.repeat_ == Repeat::kLast || option.repeat_ == Repeat::kJoined;
      if (is_one && std::ranges::find(done, &option) != done.end()) continue;
      done.push_back(&option);
      if (option.is_argument_ != nullptr) *option.is_argument_ = value.is_argument;
      std::string text = value.text;
      if (is_one) {
        bool is_first = true;
        for (const Value& other : values_) {
          if (other.option != &option) continue;
          if (is_first || option.repeat_ == Repeat::kLast) {
            text = other.text;
          } else {
            text.append(",").append(other.text);
          }
          is_first = false;
        }
      }
      if (option.delimiter_ == 0) {
        give(option, text);
      } else {
        for (std::size_t begin = 0; begin <= text.size();) {
          const std::size_t end = std::min(text.find(option.delimiter_, begin), text.size());
          give(option, text.substr(begin, end - begin));
          begin = end + 1;
        }
      }
      if (!mistake_.ok()) return;
    }
  }

  void give(const Option& option, const std::string& text) {
    Status status = option.check_ ? option.check_(text) : Status();
    if (status.ok()) status = option.take_(text);
    if (status.ok()) return;
    const bool is_named = status.message().find(option.name()) != std::string::npos ||
                          (!option.names().empty() && status.message().starts_with(option.names().front()));
    note_mistake(is_named ? status : status.with_context(option.name()));
  }

  const Command* command_;
  std::span<const std::string> words_;
  std::size_t next_ = 0;
  bool only_arguments_ = false;
  ReadLine::Request request_ = ReadLine::Request::kRun;
  std::vector<Value> values_;
  Status mistake_;
  const Command* mistaken_ = nullptr;  // the command where the mistake was made
  std::string unknown_;                // the option that the mistake is about, if any
};

ReadLine read_line(const Command& program, std::span<const std::string> words) {
  return LineReader(program).read(words);
}

}  // namespace latebind::cli
