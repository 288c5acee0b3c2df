// The rules for names inside a bundle: relative POSIX paths that mean the same file on every system on which the bundle
// may be unpacked. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::core {

inline constexpr std::size_t kPackagePathBytesMax = 512;
inline constexpr std::size_t kPackagePathPartsMax = 32;

// Rejects a path that is empty, too long, absolute or not UTF-8; the parts "", "." and ".."; backslashes, colons and
// control characters; and parts that have a special meaning on Windows (ending in a dot or a space, "nul", "com1" …).
// kInvalidModel: "`where`: the path '…' …".
[[nodiscard]] Status check_package_path(std::string_view path, std::string_view where);

// Rejects two files with the same name, ignoring the case of ASCII letters (they would be one file on Windows and
// macOS), and a file that is also a folder: one of `folders`, or the parent of another name. The names must have been
// checked.
[[nodiscard]] Status check_distinct_paths(std::span<const std::string_view> files,
                                          std::span<const std::string_view> folders, std::string_view where);

// Returns `relative`, as a manifest writes it ("cpu", "./cpu/", "."), below the folder `base` ("" is the root). The
// result obeys check_package_path() or is "" (the root). Rejects ".." and absolute paths.
[[nodiscard]] Result<std::string> join_package_path(std::string_view base, std::string_view relative,
                                                    std::string_view where);

// Whether the path is below the folder: "a/b" is below "a" and below "" (the root), not below "a/b".
[[nodiscard]] bool is_below(std::string_view path, std::string_view folder);

// Makes a valid folder name from any text: lower-case letters, digits, '-', '_' and '.'; any other character becomes
// '-'. "npu:v73" becomes "npu-v73".
[[nodiscard]] std::string folder_name_of(std::string_view text);

}  // namespace latebind::core
