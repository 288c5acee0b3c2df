// The Python package's engine for bulk work, `python -m latebind.bulk`, for formats that this program neither reads nor
// writes: Parquet and Arrow files, and files that gzip has packed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/messages.h"

namespace latebind::cli {

// A kind that the engine knows by the file's name: otherwise it has to be given one.
[[nodiscard]] bool is_known_to_python(std::string_view name);

// Runs it with these arguments in the place of this program, or reports that it is not here and what installs it.
[[nodiscard]] Exit run_python_engine(const std::vector<std::string>& arguments);

}  // namespace latebind::cli
