// A file that Git LFS has not loaded: in its place a clone has some lines of text, which no format reads.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::core {

// So many bytes of a file tell whether it is one.
inline constexpr std::size_t kGitLfsPointerBegin = 48;

// Whether a file that begins so is one.
[[nodiscard]] constexpr bool is_git_lfs_pointer(std::string_view begin) {
  return begin.starts_with("version https://git-lfs.github.com/spec/");
}

// For messages, behind the file's name.
inline constexpr std::string_view kGitLfsPointer =
    "a pointer to the file, as a clone without Git LFS has it, and not the file: load it with `git lfs pull`";

}  // namespace latebind::core
