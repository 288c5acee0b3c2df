// Where a compiled model may be written: nowhere that it reads from, and over no folder that is not a bundle of ours.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "core/result.h"

namespace latebind::app {

// kInvalidArgument for an output that is no file's name, and for one that is a file of the model: the model or the
// program itself, an IR's weights, what an ONNX file may keep its data in, or anything in a model's folder. A bundle
// that is added to may be written over, and so may a program that is converted (`is_program`), where the system lets
// them be. For a folder also for a folder that is there and not a bundle of ours with nothing else in it, and for what
// is no place for one (OutputFolder::place_of()). Looks at files, changes none.
[[nodiscard]] core::Status check_output(const CompileOptions& options, bool is_program, const Client& client);

// The same for a model that was given by its name, whose folder is known once it was read.
[[nodiscard]] core::Status check_output_of(const CompileInput& input, const std::string& output, const Client& client);

// kNotFound for what is neither there nor a name on the hub, which nothing with a model file's ending is. `what`: how
// the client calls it.
[[nodiscard]] core::Status check_input(const std::string& what, const std::string& model);

}  // namespace latebind::app
