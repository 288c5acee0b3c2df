#include "cli/model_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "cli/messages.h"
#include "cli/parser.h"
#include "cli/progress.h"
#include "core/platform/folders.h"

namespace latebind::cli {

namespace hub = embedding::hub;
using core::Result;
using core::Status;
using core::StatusCode;

void add_model(CLI::App& app, std::string& model, const std::string& what) {
  add_text(app, "--model", model, "DIR|ORG/NAME",
           what +
               ": its folder, or its name on the hub, ORG/NAME or ORG/NAME@REVISION, by which it is loaded once and "
               "kept in the hub's cache (`latebind pull --help`). What exists as a folder is one.")
      ->required();
}

Result<std::filesystem::path> model_folder(const std::string& model) {
  const auto path = platform::path_from_utf8(model);
  std::error_code error;
  if (std::filesystem::exists(path, error) || error || !hub::is_model_name(model)) return path;
  LB_ASSIGN_OR_RETURN(const auto name, hub::ModelName::parse(model));
  auto found = load_by_name(name, false);
  if (found.ok()) return found->folder;
  const Status& status = found.status();
  if (status.code() != StatusCode::kNotFound && status.code() != StatusCode::kPermissionDenied) return status;
  return status.with_context(fmt::format("there is no folder '{}', so it is taken for a name on the hub", model));
}

Result<hub::Snapshot> load_by_name(const hub::ModelName& name, bool quiet) {
  LB_ASSIGN_OR_RETURN(const auto settings, hub::Settings::from_environment());
  // Made with the first byte, because the total is known only then; gone while something else is said.
  std::optional<Progress> progress;
  std::uint64_t shown = 0;
  hub::SnapshotOptions options;
  options.note = [&](std::string_view text) {
    progress.reset();
    shown = 0;
    note(text);
  };
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!progress) progress.emplace(total, quiet, Progress::Kind::kLoading);
    // A file that has to begin anew stands still on the bar until it is where it was.
    if (done > shown) progress->advance(0, done - shown);
    shown = std::max(shown, done);
  };
  return hub::snapshot(name, settings, options);
}

}  // namespace latebind::cli
