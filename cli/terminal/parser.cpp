#include "cli/terminal/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <utility>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/help_formatter.h"
#include "cli/terminal/shown_log.h"
#include "core/background_work.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/process_end.h"
#include "core/platform/standard_streams.h"

namespace latebind::cli {
namespace {

constexpr const char* kFooter =
    "`latebind COMMAND --help` tells everything about one command.\n\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  failed; one line on stderr says what was tried, what was found and what to do.\n"
    "     Also when the reader of stdout went away early (`| head -1`), then in silence.\n"
    "  2  the command line is invalid\n"
    "  130  interrupted by Ctrl-C; of `embed -o FILE` what was done is kept, to go on with\n\n"
    "Results go to stdout, everything else to stderr.";

// "embed", or "bench embed": the command that the line chose as far as it was understood.
std::string chosen_name(const CLI::App& program) {
  std::string name;
  const CLI::App* app = &program;
  for (;;) {
    const auto chosen = app->get_subcommands();
    if (chosen.empty()) return name;
    app = chosen.front();
    name += (name.empty() ? "" : " ") + app->get_name();
  }
}

const CLI::App& chosen_command(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty())
    app = app->get_subcommands().front();
  return *app;
}

bool is_quiet(const CLI::App& program) {
  const CLI::Option* const quiet = chosen_command(program).get_option_no_throw("--quiet");
  return quiet != nullptr && !quiet->empty() && quiet->as<bool>();
}

// Which option was given too often, where that is what is wrong; the parser's own words for it name no remedy.
std::string say_mismatch(const CLI::App& program, const CLI::ArgumentMismatch& error) {
  for (const CLI::Option* const option : chosen_command(program).get_options()) {
    const std::size_t given = option->results().size();
    if (option->get_positional() || option->get_items_expected_max() != 1 || given < 2) continue;
    const std::string name = option->get_name();
    return fmt::format("{0} is given {1} times, but takes one value{2}", name, given,
                       name == "--device" ? "; several devices to try are one list: --device FIRST,SECOND" : "");
  }
  return error.what();
}

// The status of an unknown word where a command is expected.
core::Status check_command(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return core::Status(core::StatusCode::kInvalidArgument, "no command is given");
  const std::string_view word = arguments[1];
  if (word.empty() || word.front() == '-') return {};
  std::vector<std::string_view> known;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return {};
    // Hidden ones are for the program itself.
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  return core::unknown_word_error("command", word, known);
}

Exit show(const std::string& text) {
  const auto status = print(text);
  return status.ok() ? Exit::kGood : fail(status);
}

Exit parse_and_run(const std::vector<std::string>& arguments) {
  CLI::App program("Runs models on the accelerators that are there, and turns text into vectors.", "latebind");
  Action chosen;
  program.formatter(std::make_shared<HelpFormatter>());
  program.get_formatter()->label("Usage", "Usage");
  program.set_help_flag("-h,--help", "Shows this help.");
  program.set_version_flag("--version", "latebind " LATEBIND_VERSION, "Shows the version.");
  program.footer(kFooter);
  program.require_subcommand(1);
  bool verbose = false;
  program.add_flag("-v,--verbose", verbose,
                   "Says on stderr what is tried and found on the way, and not warnings alone; before the command: "
                   "`latebind -v embed ...`.");

  for (const auto add_command : kCommands)
    add_command(program, chosen);

  if (const auto status = check_command(program, arguments); !status.ok()) {
    return misuse("", status.message());
  }
  try {
    // The parser takes them from the back, without the program's name.
    program.parse(std::vector<std::string>(arguments.rbegin(), std::prev(arguments.rend())));
  } catch (const CLI::CallForHelp&) {
    return show(program.help());
  } catch (const CLI::CallForVersion& version) {
    return show(std::string(version.what()) + "\n");
  } catch (const CLI::ArgumentMismatch& error) {
    return misuse(chosen_name(program), say_mismatch(program, error));
  } catch (const CLI::ParseError& error) {
    return misuse(chosen_name(program), error.what());
  }
  if (verbose) tell_details();
  show_log(verbose ? LogShown::kEverything : is_quiet(program) ? LogShown::kNothing : LogShown::kWarnings);
  return chosen();
}

}  // namespace

int run_program(int argc, char** argv) {
  platform::prepare_program();
  platform::let_writes_fail();
  platform::use_binary_streams();
  platform::remove_leftovers_on_signals();
  Exit exit = Exit::kFailed;
  try {
    exit = parse_and_run(platform::program_arguments(argc, argv));
  } catch (const std::bad_alloc&) {
    note("out of memory");
  } catch (const std::exception& error) {
    note(fmt::format("a defect of latebind: {}", error.what()));
  }
  if (core::background_work() > 0) {
    // An abandoned vendor call is still running, and exit() would destroy what it uses.
    platform::remove_leftovers();
    platform::end_program(static_cast<int>(exit));
  }
  return static_cast<int>(exit);
}

CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target, const std::string& value_name,
                      const std::string& description) {
  return app.add_option(names, target, description)->type_name(value_name);
}

CLI::Option* refuse_empty(CLI::Option* option, const std::string& name, const std::string& remedy) {
  return option->each([name, remedy](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(fmt::format("{} is empty: {}", name, remedy));
  });
}

CLI::Option* add_texts(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                       const std::string& value_name, const std::string& description) {
  // One value each time: the words after it may be files.
  return app.add_option(names, target, description)
      ->type_name(value_name)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace latebind::cli
