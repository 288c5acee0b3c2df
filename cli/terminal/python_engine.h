// Runs the Python package's engine for bulk work, `python -m latebind.bulk`, for formats that this program neither
// reads nor writes: Parquet and Arrow files, and gzip-compressed files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/messages.h"

namespace latebind::cli {

// Whether the engine recognises the file's format by its name. Otherwise the format must be given.
[[nodiscard]] bool is_known_to_python(std::string_view name);

// Replaces this program with the engine, run with these arguments. Reports how to install the engine if it is missing.
[[nodiscard]] Exit run_python_engine(const std::vector<std::string>& arguments);

}  // namespace latebind::cli
