// Where a compiled model may be written: not over its input, and over no folder but a bundle that Latebind wrote.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "core/result.h"

namespace latebind::app {

// kInvalidArgument for an output that is not a file name, and for one that is a file of the model: the model or the
// program itself, an IR's weights, what an ONNX file may keep its data in, or anything in a model's folder. A bundle
// that is added to may be written over, and so may a program that is converted (`is_program`), where the system allows
// it. For a folder also for a place that cannot be a folder's (OutputFolder::place_of()). Reads files, changes none.
[[nodiscard]] core::Status check_output(const CompileOptions& options, bool is_program, const Client& client);

// kInvalidArgument for an existing folder that is not a bundle that Latebind wrote with nothing else in it. Reads all
// of it, so that nobody may be writing it: to be called with the place's lock.
[[nodiscard]] core::Status check_replaced(const CompileOptions& options, const Client& client);

// The error of writing there, of a place that cannot be written to. Creates a temporary file or folder beside it, and
// removes it; devices and pipes are not tried.
[[nodiscard]] core::Status try_output(const CompileOptions& options);

// check_output() for a model that was given by its name, whose folder is known once it was read.
[[nodiscard]] core::Status check_output_of(const CompileInput& input, const std::string& output, const Client& client);

// kNotFound for what neither exists nor is a name on the hub; nothing with a model file's suffix is such a name.
// `what`: the client's name for it.
[[nodiscard]] core::Status check_input(const std::string& what, const std::string& model);

}  // namespace latebind::app
