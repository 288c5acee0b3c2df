// Recognises a file that Git LFS has not loaded: instead of its content, the clone has some lines of text, which no
// format reader understands. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::core {

// The number of leading bytes that is_git_lfs_pointer() needs.
inline constexpr std::size_t kGitLfsPointerBegin = 48;

// Whether a file that begins with these bytes is such a pointer.
[[nodiscard]] constexpr bool is_git_lfs_pointer(std::string_view begin) {
  return begin.starts_with("version https://git-lfs.github.com/spec/");
}

// The end of an error message, after the file's name.
inline constexpr std::string_view kGitLfsPointer =
    "a Git LFS pointer instead of the file: download the file with `git lfs pull`";

}  // namespace latebind::core
