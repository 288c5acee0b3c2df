// The system calls that OutputFolder uses; one implementation per system. Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

struct OpenedFolder {
  std::filesystem::path path;
  std::intptr_t handle = -1;  // held as long as the folder is being filled
};

// A new folder in `parent`, with the permissions of any folder that the user creates; private to its owner when it is
// to replace a folder at `target`, whose permissions it gets when it is put there.
[[nodiscard]] core::Result<OpenedFolder> make_temporary_folder(const std::filesystem::path& parent,
                                                               const std::filesystem::path& target);
void close_folder_quietly(std::intptr_t handle) noexcept;

// Renames `temporary` to `target`, in one step. False, and nothing was done, when a folder with content is there.
[[nodiscard]] core::Result<bool> place_folder(const std::filesystem::path& temporary,
                                              const std::filesystem::path& target);

// Afterwards each of the two folders is where the other one was. After an error both are as they were, or the message
// says where they are.
[[nodiscard]] core::Status exchange_folders(const std::filesystem::path& temporary,
                                            const std::filesystem::path& target);

// True when no process is filling this temporary folder any more.
[[nodiscard]] bool is_abandoned_folder(const std::filesystem::path& temporary) noexcept;

}  // namespace latebind::platform
