// The argument MODEL, which may also be given as --model.
#pragma once

#include <string>

#include "core/status.h"

namespace latebind::cli {

class Command;
class Option;

// Adds the required argument MODEL. `what` begins its description. `is_argument` tells, afterwards, whether the model
// was given as an argument rather than with --model or LATEBIND_MODEL.
void add_model(Command& app, std::string& model, bool& is_argument, const std::string& what);

// Makes an option that requires a model take that of LATEBIND_MODEL if the line names none.
Option* take_model_from_variable(Option* option);

// Adds to the error of opening a model that `model` may be a FILE of the command, if it is a file and no model, and was
// given as an argument.
[[nodiscard]] core::Status as_model_argument(const core::Status& error, const std::string& model, bool is_argument);

}  // namespace latebind::cli
