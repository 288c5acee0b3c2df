// MODEL, which is --model as well.
#pragma once

#include <string>

namespace latebind::cli {

class Command;

// Adds the required argument MODEL; `what` opens its description.
void add_model(Command& app, std::string& model, const std::string& what);

}  // namespace latebind::cli
