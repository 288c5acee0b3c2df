// Declares the usual kinds of options in one line each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/terminal/command_line.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::cli {

// Adds an option whose value is a word of an enumeration. The error for another word lists the known ones.
template <class E, class Target>
Option* add_word_to(Command& app, const std::string& names, Target& target, const std::string& description) {
  std::vector<std::string> words;
  for (const auto& word : core::Words<E>::kWords)
    words.emplace_back(word.text);
  const auto take = [&target](const std::string& given) -> core::Status {
    LB_ASSIGN_OR_RETURN(target, core::parse_word<E>(given));
    return {};
  };
  return app.add_option(names, take, description)->type_name("WORD")->words(std::move(words));
}

template <class E>
Option* add_word(Command& app, const std::string& names, E& target, const std::string& description) {
  return add_word_to<E>(app, names, target, description);
}

// Likewise, for options where it matters whether they were given.
template <class E>
Option* add_word(Command& app, const std::string& names, std::optional<E>& target, const std::string& description) {
  return add_word_to<E>(app, names, target, description);
}

// Adds an option that takes an integer from `least` to `most`.
template <class Integer>
Option* add_integer(Command& app, const std::string& names, Integer& target, std::int64_t least, std::int64_t most,
                    const std::string& description) {
  const auto take = [&target, names, least, most](const std::string& given) -> core::Status {
    const auto what = std::string_view(names).substr(0, names.find(','));
    LB_ASSIGN_OR_RETURN(const std::int64_t value, core::parse_integer(what, given, least, most));
    target = static_cast<Integer>(value);
    return {};
  };
  return app.add_option(names, take, description)->type_name("N");
}

// The names of a command's model, its first argument. If the model is given by name, all arguments go to other options.
inline constexpr const char* kModelNames = "MODEL,-m,--model";

// Adds an option that takes a text.
Option* add_text(Command& app, const std::string& names, std::string& target, const std::string& value_name,
                 const std::string& description);

// Makes an option reject "". The error names it and the remedy.
Option* refuse_empty(Option* option, const std::string& name, const std::string& remedy);

// Adds an option that takes one text each time and may be repeated.
Option* add_texts(Command& app, const std::string& names, std::vector<std::string>& target,
                  const std::string& value_name, const std::string& description);

}  // namespace latebind::cli
