// --model.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace latebind::cli {

// Adds the required option --model; `what` opens its description.
void add_model(CLI::App& app, std::string& model, const std::string& what);

}  // namespace latebind::cli
