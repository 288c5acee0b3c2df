// latebind completion: the program's help in other forms, for shells and man(1).
#include "cli/terminal/completion.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/manual.h"
#include "cli/terminal/parser.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"

namespace latebind::cli {
namespace {

using core::Status;

Exit show(const std::string& text) {
  const auto printed = print(text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit complete(const Command& program, const std::vector<std::string>& words) {
  std::string text;
  for (const Candidate& candidate : candidates(program, words))
    text += candidate.description.empty() ? candidate.word + "\n"
                                          : fmt::format("{}\t{}\n", candidate.word, candidate.description);
  return show(text);
}

Status write(const std::filesystem::path& file, std::string_view text) {
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(text));
  return output.commit_unsynced();
}

Status write_pages(const Command& command, const std::filesystem::path& folder) {
  LB_RETURN_IF_ERROR(write(folder / (manual_name(command) + ".1"), manual_page(command)));
  for (const Command* const sub : command.subcommands())
    LB_RETURN_IF_ERROR(write_pages(*sub, folder));
  return {};
}

}  // namespace

void add_completion(Command& program, Action& chosen) {
  auto shell = std::make_shared<std::string>();
  Command& app = *program.add_subcommand("completion", "Prints the completion script of a shell.");
  const auto take = [shell](const std::string& text) {
    static constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};
    if (completion_script(text).empty()) return core::unknown_word_error("shell", text, kShells);
    *shell = text;
    return Status();
  };
  app.add_option("SHELL", take, "bash, zsh or fish.")->required()->words({"bash", "zsh", "fish"});
  app.footer(
      "The packages install it. Otherwise, add a line to the shell's start file:\n"
      "\n"
      "Examples:\n"
      "  source <(latebind completion bash)\n"
      "  source <(latebind completion zsh)\n"
      "  latebind completion fish | source");
  app.callback([shell, &chosen] { chosen = [shell] { return show(std::string(completion_script(*shell))); }; });

  auto words = std::make_shared<std::vector<std::string>>();
  Command& asked = *program.add_subcommand("complete", "Prints the completions of the last word.");
  asked.hide();
  asked.add_option("WORD", *words, "The line so far.");
  asked.callback([words, &program, &chosen] { chosen = [words, &program] { return complete(program, *words); }; });

  auto folder = std::make_shared<std::string>();
  Command& pages = *program.add_subcommand("manual-pages", "Writes the manual pages into a folder.");
  pages.hide();
  pages.add_option("FOLDER", *folder)->required();
  pages.callback([folder, &program, &chosen] {
    chosen = [folder, &program] {
      const auto written = write_pages(program, platform::path_from_utf8(*folder));
      return written.ok() ? Exit::kGood : fail(written);
    };
  });
}

}  // namespace latebind::cli
