#include "cli/terminal/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/config.h"
#include "core/text/option_text.h"
#include "core/text/quote.h"

namespace latebind::cli {

using core::Status;
using core::StatusCode;

Option::Option(std::string_view names, std::string value_name, std::string help, Take take)
    : value_name_(std::move(value_name)), help_(std::move(help)), take_(std::move(take)) {
  for (const std::string_view name : core::list_items(names)) {
    if (name.starts_with('-')) {
      names_.emplace_back(name);
    } else {
      positional_ = name;
      if (value_name_.empty()) value_name_ = name;
    }
  }
}

Option* Option::required() {
  required_ = true;
  return this;
}

Option* Option::repeats(Repeat repeat) {
  repeat_ = repeat;
  return this;
}

Option* Option::type_name(std::string name) {
  value_name_ = std::move(name);
  return this;
}

Option* Option::group(std::string title) {
  group_ = std::move(title);
  return this;
}

Option* Option::brief() {
  brief_ = true;
  return this;
}

Option* Option::main(bool is_main) {
  main_ = is_main;
  return this;
}

Option* Option::delimiter(char character) {
  delimiter_ = character;
  return this;
}

Option* Option::excludes(const Option* other) {
  excluded_ = other;
  return this;
}

Option* Option::note_argument(bool& is_argument) {
  is_argument_ = &is_argument;
  return this;
}

Option* Option::negatable() {
  negatable_ = true;
  return this;
}

Option* Option::check(Take see) {
  check_ = std::move(see);
  return this;
}

Option* Option::words(std::vector<std::string> all, bool is_list) {
  words_ = std::move(all);
  is_list_of_words_ = is_list;
  return this;
}

Option* Option::variable(std::string name, Elsewhere read) {
  variable_ = std::move(name);
  elsewhere_ = std::move(read);
  return this;
}

bool Option::has_name(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

Command::Command(std::string name, std::string description, const Command* parent)
    : name_(std::move(name)), description_(std::move(description)), parent_(parent) {}

Command* Command::add_subcommand(std::string name, std::string description) {
  return &subcommands_.emplace_back(std::move(name), std::move(description), this);
}

Option* Command::add_option(std::string_view names, Option::Take take, std::string help) {
  return &options_.emplace_back(names, "TEXT", std::move(help), std::move(take));
}

Option* Command::add_option(std::string_view names, std::string& target, std::string help) {
  const auto take = [&target](const std::string& text) {
    target = text;
    return Status();
  };
  return add_option(names, take, std::move(help));
}

Option* Command::add_option(std::string_view names, std::optional<std::string>& target, std::string help) {
  const auto take = [&target](const std::string& text) {
    target = text;
    return Status();
  };
  return add_option(names, take, std::move(help));
}

Option* Command::add_option(std::string_view names, std::vector<std::string>& target, std::string help) {
  // The first value replaces the default.
  const auto take = [&target, is_first = true](const std::string& text) mutable {
    if (std::exchange(is_first, false)) target.clear();
    target.push_back(text);
    return Status();
  };
  return add_option(names, take, std::move(help))->repeats(Repeat::kEach);
}

Option* Command::add_flag(std::string_view names, Option::Take take, std::string help) {
  return options_.emplace_back(names, "", std::move(help), std::move(take)).repeats(Repeat::kLast);
}

Option* Command::add_flag(std::string_view names, bool& target, std::string help) {
  const auto take = [&target](const std::string& text) {
    const auto truth = core::parse_truth(text);
    if (!truth) {
      return Status(StatusCode::kInvalidArgument, fmt::format("must be true or false, not {}", core::quoted(text, 64)));
    }
    target = *truth;
    return Status();
  };
  return add_flag(names, take, std::move(help));
}

std::string Command::full_name() const {
  return parent_ == nullptr ? name_ : parent_->full_name() + " " + name_;
}

const Option* Command::find_option(std::string_view name) const {
  for (const Command* command = this; command != nullptr; command = command->parent()) {
    const auto& options = command->options_;
    const auto found = std::ranges::find_if(options, [&](const Option& option) { return option.has_name(name); });
    if (found != options.end()) return &*found;
  }
  return nullptr;
}

std::vector<const Command*> Command::subcommands() const {
  std::vector<const Command*> shown;
  for (const Command& command : subcommands_)
    if (!command.hidden_) shown.push_back(&command);
  return shown;
}

const Command* Command::find_subcommand(std::string_view name) const {
  const auto found = std::ranges::find(subcommands_, name, &Command::name_);
  return found == subcommands_.end() ? nullptr : &*found;
}

}  // namespace latebind::cli
