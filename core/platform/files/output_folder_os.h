// The system calls that OutputFolder uses, with one implementation per system. Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

struct OpenedFolder {
  std::filesystem::path path;
  std::intptr_t handle = -1;  // held while the folder is being filled
};

// Creates a folder in `parent`. It has the permissions of any folder that the user creates. If it is to replace a
// folder at `target`, it is private to its owner, and gets that folder's permissions when it is put there.
[[nodiscard]] core::Result<OpenedFolder> make_temporary_folder(const std::filesystem::path& parent,
                                                               const std::filesystem::path& target);
void close_folder_quietly(std::intptr_t handle) noexcept;

// Renames `temporary` to `target`, in one step. Returns false, and changes nothing, when there is a folder with
// content.
[[nodiscard]] core::Result<bool> place_folder(const std::filesystem::path& temporary,
                                              const std::filesystem::path& target);

// Exchanges the two folders. After an error both are where they were, or the message says where they are.
[[nodiscard]] core::Status exchange_folders(const std::filesystem::path& temporary,
                                            const std::filesystem::path& target);

// Whether no process is filling this temporary folder any more.
[[nodiscard]] bool is_abandoned_folder(const std::filesystem::path& temporary) noexcept;

}  // namespace latebind::platform
