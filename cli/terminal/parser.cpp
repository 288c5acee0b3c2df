#include "cli/terminal/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <span>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/help.h"
#include "cli/terminal/shown_log.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/process_end.h"
#include "core/platform/standard_streams.h"
#include "core/threads/background_work.h"

namespace latebind::cli {
namespace {

constexpr const char* kFooter =
    "`latebind COMMAND -h` shows a command's help on one screen; --help shows all of it.\n"
    "\n"
    "Exit status:\n"
    "  0  success\n"
    "  1  failure; one line on stderr says what was tried, what was found and what to do.\n"
    "     Also, without a message, if the reader of stdout went away early (`| head -1`).\n"
    "  2  the command line is invalid\n"
    "  130  interrupted by Ctrl-C; `embed -o FILE` keeps its progress and can continue\n"
    "\n"
    "Results go to stdout, everything else to stderr.";

// "embed", or "bench embed". "" for the program.
std::string name_of(const Command& command) {
  if (command.parent() == nullptr) return {};
  const std::string before = name_of(*command.parent());
  return before.empty() ? command.name() : before + " " + command.name();
}

bool is_quiet(const ReadLine& line) {
  return std::ranges::any_of(line.flags, [](const Option* flag) { return flag->name() == "--quiet"; });
}

Exit show(const std::string& text) {
  const auto status = print(text);
  return status.ok() ? Exit::kGood : fail(status);
}

// Output to a file or a pipe is for people as well.
constexpr std::size_t kUsualColumns = 80;
// Longer lines are hard to read.
constexpr std::size_t kColumnsMax = 100;

std::size_t help_columns() {
  return std::min<std::size_t>(platform::output_stream_columns().value_or(kUsualColumns), kColumnsMax) - 1;
}

Exit parse_and_run(const std::vector<std::string>& arguments) {
  Command program("latebind", "Runs models on the accelerators of this machine and embeds text.");
  Action chosen;
  program.footer(kFooter);
  program.require_subcommand();
  bool verbose = false;
  program.add_flag("-v,--verbose", verbose, "Also reports on stderr what is tried and found, not only warnings.");
  // Only for the readers of the tables: the parser handles both flags itself.
  const auto known = [](const std::string& /*text*/) { return core::Status(); };
  program.add_flag("-V,--version", known, "Shows the version.");
  program.add_flag("-h,--help", known, "Shows help: -h on one screen, --help in full.");

  for (const auto add_command : kCommands)
    add_command(program, chosen);

  const ReadLine line = read_line(program, std::span(arguments).subspan(std::min<std::size_t>(arguments.size(), 1)));
  switch (line.request) {
    case ReadLine::Request::kShortHelp:
      return show(short_help(*line.command, help_columns()));
    case ReadLine::Request::kFullHelp:
      return show(full_help(*line.command, help_columns()));
    case ReadLine::Request::kVersion:
      return show("latebind " LATEBIND_VERSION "\n");
    case ReadLine::Request::kMistake:
      return misuse(name_of(*line.command), line.mistake.message());
    case ReadLine::Request::kRun:
      break;
  }
  if (verbose) show_details();
  show_log(verbose ? LogShown::kEverything : is_quiet(line) ? LogShown::kNothing : LogShown::kWarnings);
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

Option* add_text(Command& app, const std::string& names, std::string& target, const std::string& value_name,
                 const std::string& description) {
  return app.add_option(names, target, description)->type_name(value_name);
}

Option* refuse_empty(Option* option, const std::string& name, const std::string& remedy) {
  return option->check([name, remedy](const std::string& text) {
    return text.empty() ? core::Status(core::StatusCode::kInvalidArgument, fmt::format("{} is empty: {}", name, remedy))
                        : core::Status();
  });
}

Option* add_texts(Command& app, const std::string& names, std::vector<std::string>& target,
                  const std::string& value_name, const std::string& description) {
  return app.add_option(names, target, description)->type_name(value_name);
}

}  // namespace latebind::cli
