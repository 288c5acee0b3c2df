// Checks where a compiled model may be written: not over its input, and over a folder only if it is a bundle that
// Latebind wrote.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "core/result.h"

namespace latebind::app {

// Returns kInvalidArgument if the output is not a file name, or is a file of the model: the model or the program
// itself, the weights of an IR, a file that may hold ONNX external data, or anything inside a model folder. A bundle
// being extended may be overwritten, and so may a program being converted (`is_program`), if the system permits it. For
// a folder, also returns the error of OutputFolder::place_of(). Reads files and changes none.
[[nodiscard]] core::Status check_output(const CompileOptions& options, bool is_program, const Client& client);

// Returns kInvalidArgument if the output is an existing folder other than an unmodified bundle that Latebind wrote.
// Reads the whole folder, so the caller must hold its lock.
[[nodiscard]] core::Status check_replaced(const CompileOptions& options, const Client& client);

// Returns the error that writing to the output would give. Creates and removes a temporary file or folder beside it;
// devices and pipes are not tried.
[[nodiscard]] core::Status try_output(const CompileOptions& options);

// Like check_output(), for a model given by name, whose folder is known only once it has been read.
[[nodiscard]] core::Status check_output_of(const CompileInput& input, const std::string& output, const Client& client);

// Returns kNotFound if `model` neither exists nor is a name on the hub. A name with a model file's suffix is never on
// the hub. `what` is the client's name for the option.
[[nodiscard]] core::Status check_input(const std::string& what, const std::string& model);

}  // namespace latebind::app
