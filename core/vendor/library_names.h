// The names of vendors' libraries on each system, and the parts and versions of names and paths. Pure functions, any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

enum class System { kLinux, kWindows };

// The system and the architecture that this code was compiled for, for backends whose data depends on them.
[[nodiscard]] System own_system();
[[nodiscard]] std::string own_architecture();

// Whether the first name has the newer version. Runs of digits compare as numbers: "2641" is newer than "2541", "1.31"
// is newer than "1.9".
[[nodiscard]] bool newer_name(std::string_view a, std::string_view b);

// For "/a/b/c": "/a/b", and "c". The parent is empty if there is no folder above.
[[nodiscard]] std::string parent_folder(const std::string& path);
[[nodiscard]] std::string_view last_part(std::string_view path);

// Whether the path leads to the same place from every folder. `path` has '/' between its parts.
[[nodiscard]] bool is_absolute_path(std::string_view path, System system);

// Splits a list such as "a:b" (';' on Windows) or "a,b"; empty parts are omitted.
[[nodiscard]] std::vector<std::string> split_paths(std::string_view text, System system);

// Returns "libopenvino_c.so" or "openvino_c.dll".
[[nodiscard]] std::string library_name(std::string_view stem, System system);

// Whether this is the plain name, or the plain name with a version after it, as in Python packages.
[[nodiscard]] bool is_library_name(std::string_view name, const std::string& plain, System system);

}  // namespace latebind::core
