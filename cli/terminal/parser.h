// The command line: how options are declared, how help looks and how errors are reported. Based on CLI11, which only
// the files in this folder use.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "core/config.h"

namespace latebind::cli {

// An option with a value from the table of an enumeration; a wrong word is an error that lists the known ones.
template <class E>
CLI::Option* add_word(CLI::App& app, const std::string& names, E& target, const std::string& description) {
  return app
      .add_option_function<std::string>(
          names,
          [&target](const std::string& given) {
            auto value = core::parse_word<E>(given);
            if (!value.ok()) throw CLI::ValidationError(std::string(value.status().message()));
            target = *value;
          },
          description)
      ->type_name("WORD");
}

// The same where it matters whether it was given.
template <class E>
CLI::Option* add_word(CLI::App& app, const std::string& names, std::optional<E>& target,
                      const std::string& description) {
  return app
      .add_option_function<std::string>(
          names,
          [&target](const std::string& given) {
            auto value = core::parse_word<E>(given);
            if (!value.ok()) throw CLI::ValidationError(std::string(value.status().message()));
            target = *value;
          },
          description)
      ->type_name("WORD");
}

// An option with a whole number from `least` to `most`.
template <class Integer>
CLI::Option* add_integer(CLI::App& app, const std::string& names, Integer& target, std::int64_t least,
                         std::int64_t most, const std::string& description) {
  return app
      .add_option_function<std::string>(
          names,
          [&target, names, least, most](const std::string& given) {
            const auto what = std::string_view(names).substr(0, names.find(','));
            auto value = core::parse_integer(what, given, least, most);
            if (!value.ok()) throw CLI::ValidationError(std::string(value.status().message()));
            target = static_cast<Integer>(*value);
          },
          description)
      ->type_name("N");
}

// An option with a text.
CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target, const std::string& value_name,
                      const std::string& description);

// An option with a text that may not be "": the error names it, and says what to do.
CLI::Option* refuse_empty(CLI::Option* option, const std::string& name, const std::string& remedy);

// An option that may be given several times, one value each time.
CLI::Option* add_texts(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                       const std::string& value_name, const std::string& description);

}  // namespace latebind::cli
