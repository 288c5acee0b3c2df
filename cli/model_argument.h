// --model: a folder, or the name of a model on the hub. The one place that knows the difference.
#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"
#include "embedding/hub/snapshot.h"

namespace CLI {
class App;
}

namespace latebind::cli {

// Adds the required option --model; `what` opens its description.
void add_model(CLI::App& app, std::string& model, const std::string& what);

// The folder behind a value of --model. What exists is a path, whatever it looks like; ORG/NAME and ORG/NAME@REVISION
// are otherwise names on the hub, and are loaded when the cache lacks them; anything else is a path, and whoever opens
// it says what is wrong with it. Progress is shown on a terminal.
[[nodiscard]] core::Result<std::filesystem::path> model_folder(const std::string& model);

// Loads by name; `quiet`: no progress.
[[nodiscard]] core::Result<embedding::hub::Snapshot> load_by_name(const embedding::hub::ModelName& name, bool quiet);

}  // namespace latebind::cli
