#include "cli/terminal/model_argument.h"

#include <algorithm>

#include "cli/terminal/messages.h"
#include "cli/terminal/parser.h"

namespace latebind::cli {

void add_model(CLI::App& app, std::string& model, const std::string& what) {
  add_text(app, "--model", model, "DIR|ORG/NAME",
           what +
               ": its folder, or its name on the hub, ORG/NAME or ORG/NAME@REVISION, by which it is loaded once and "
               "kept in the hub's cache (`latebind pull --help`). What exists as a folder is one.")
      ->required();
}

TerminalClient::TerminalClient(bool quiet) : quiet_(quiet) {
  client_.name_of = [](std::string_view key) {
    std::string name = "--" + std::string(key);
    std::ranges::replace(name, '_', '-');
    return name;
  };
  client_.note = [this](std::string_view text) {
    progress_.reset();
    shown_ = 0;
    note(text);
  };
  client_.loading = [this](std::uint64_t done, std::uint64_t total) {
    if (!progress_) progress_.emplace(total, quiet_, Progress::Kind::kLoading);
    // A file that has to begin anew stands still on the bar until it is where it was.
    if (done > shown_) progress_->advance(0, done - shown_);
    shown_ = std::max(shown_, done);
  };
}

}  // namespace latebind::cli
