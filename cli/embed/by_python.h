// The part of `latebind embed` that the Python package does: Parquet, Arrow, CSV and packed files (docs/bulk.md).
#pragma once

#include <string>
#include <vector>

#include "cli/embed/arguments.h"
#include "core/result.h"

namespace latebind::cli {

// Whether only the Python package can do the work.
[[nodiscard]] bool is_for_python(const EmbedArguments& options);
// Returns the arguments for run_python_engine(). Returns kInvalidArgument if the Python package cannot do the work
// either, with what can.
[[nodiscard]] core::Result<std::vector<std::string>> python_arguments(const EmbedArguments& options);

}  // namespace latebind::cli
