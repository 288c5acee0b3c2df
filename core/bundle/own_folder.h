// Whether an existing folder may be replaced: it is a bundle that Latebind wrote, and contains nothing else.
//
// A manifest.json alone does not make a bundle: many programs have a file of that name. Every file must be recorded in
// the manifest, with that content; any other file, a changed one or a link out of the folder protects the whole folder.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::core {

// Ok for a place where a bundle's folder may be written: nothing, an empty folder, or a bundle that Latebind wrote.
// Else kInvalidArgument with the first unknown file, or why it is not a bundle. Reads all of it. `name` is for the
// message when the folder is not at its own place.
[[nodiscard]] Status check_replaceable(const std::filesystem::path& folder, const std::filesystem::path& name);

[[nodiscard]] bool is_empty_or_absent(const std::filesystem::path& place);

}  // namespace latebind::core
