// The argument MODEL, which may also be given as --model.
#pragma once

#include <string>

namespace latebind::cli {

class Command;

// Adds the required argument MODEL. `what` begins its description.
void add_model(Command& app, std::string& model, const std::string& what);

}  // namespace latebind::cli
