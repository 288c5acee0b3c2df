// Whether a folder that is there may be replaced: it is a bundle that Latebind wrote, and nothing else is in it.
//
// A manifest.json makes no bundle: many programs call a file so. Every file must be one that the manifest records, with
// the content that it records; a file beside those, a changed one or a link out of the folder keeps the whole folder.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::core {

// Ok for a place where a bundle's folder may be written: nothing, an empty folder, or a bundle of ours. Else
// kInvalidArgument with the first file that is not known, or why it is no bundle. Reads all of it. `name` is for the
// text when the folder is not at its own place.
[[nodiscard]] Status check_replaceable(const std::filesystem::path& folder, const std::filesystem::path& name);

[[nodiscard]] bool is_empty_or_absent(const std::filesystem::path& place);

}  // namespace latebind::core
