// Where `latebind compile` may write: nowhere that it reads from, and over no folder that is not a bundle of ours.
#pragma once

#include <string>

#include "cli/compile_input.h"
#include "cli/compile_options.h"
#include "core/result.h"

namespace latebind::cli {

// kInvalidArgument for an output that is no file's name, and for one that is a file of the model: MODEL or --model
// itself, an IR's weights, what an ONNX file may keep its data in, or anything in a model's folder. A bundle that is
// added to may be written over, and so may a program that is converted (`is_program`), where the system lets them be.
// For --format folder also for a folder that is there and not a bundle of ours with nothing else in it, and for what is
// no place for one (OutputFolder::place_of()).
// Looks at files, changes none.
[[nodiscard]] core::Status check_output(const CompileOptions& options, bool is_program);

// The same for a model that was given by its name, whose folder is known once it was read.
[[nodiscard]] core::Status check_output_of(const CompileInput& input, const std::string& output);

// kNotFound for what is neither there nor a name on the hub, which nothing with a model file's ending is. `what`:
// "MODEL" or an option.
[[nodiscard]] core::Status check_input(const std::string& what, const std::string& model);

}  // namespace latebind::cli
