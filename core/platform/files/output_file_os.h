// The system calls that OutputFile uses, with one implementation per system. Internal to core/platform.
//
// A handle is a descriptor of the C runtime, so it is an int on every system. One thread at a time for each handle.
#pragma once

#include <cstddef>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

struct OpenedOutput {
  int handle = -1;
  // What commit() will replace: `file` itself or, if that is a link, the file that it leads to.
  std::filesystem::path target;
  // Empty when the handle is the target: a pipe, a terminal or a device, which cannot be replaced by renaming.
  std::filesystem::path temporary;
};

[[nodiscard]] core::Result<OpenedOutput> open_output(const std::filesystem::path& file);

// Writes all bytes. `file` is for the text of an error.
[[nodiscard]] core::Status write_output(int handle, const char* data, std::size_t size,
                                        const std::filesystem::path& file);
[[nodiscard]] core::Status write_output_at(int handle, std::size_t offset, const char* data, std::size_t size,
                                           const std::filesystem::path& file);

// Waits until the bytes are on the disk; ok for handles without a disk.
[[nodiscard]] core::Status sync_output(int handle, const std::filesystem::path& file);

// Closes the handle in any case. Some file systems report a full disk only here.
[[nodiscard]] core::Status close_output(int handle, const std::filesystem::path& file);

enum class Sync { kToDisk, kNone };

// Replaces `target` by `temporary` in one step.
[[nodiscard]] core::Status replace_output(const std::filesystem::path& temporary, const std::filesystem::path& target,
                                          Sync sync);

// Whether no process has this temporary file open for writing any more.
[[nodiscard]] bool is_abandoned(const std::filesystem::path& temporary) noexcept;

void close_output_quietly(int handle) noexcept;
void remove_output_quietly(const std::filesystem::path& temporary) noexcept;

}  // namespace latebind::platform
