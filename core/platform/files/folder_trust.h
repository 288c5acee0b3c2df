// Checks and creates folders whose content is trusted because nobody else could have put it there, and checks links
// against planting by other users.
//
// For content that this process is about to execute or trust like code, and for places it is about to write to. All
// functions may be called from any thread.
#pragma once

#include <filesystem>
#include <optional>

#include "core/result.h"
#include "core/status.h"

namespace latebind::platform {

// Returns ok when only root and this user (the effective one) can change what `place`, a folder or a file, leads to.
// All folders on the path are checked, including those that symbolic links lead to; a relative path begins in the
// current folder. kPermissionDenied names the offending folder and the reason in one line: it belongs to another user,
// or others may write to it. kNotFound, kPermissionDenied or kIo when it cannot be examined.
//
// Write permission is allowed
// - for a parent with the sticky bit (nobody may rename or remove what another user owns), such as /tmp; a link in it
//   must be owned by root or this user;
// - for a group that has no other user in it: the user's private one, or one without members. Membership is what the
//   group database and /etc/passwd list; in a folder with an access list, any group's write permission is an offence.
//
// A place that does not exist yet is judged, as a parent, by the folder in which it would be created.
//
// On Windows the result is always ok: access lists are not checked there.
[[nodiscard]] core::Status check_folder_trust(const std::filesystem::path& place);

// Returns the target of a symbolic link, unresolved. For code that follows links itself, which bypasses the kernel's
// own protection (protected_symlinks). std::nullopt if `place` is not a link, does not exist or cannot be examined.
// kPermissionDenied for another user's link in a sticky folder that others may write to, such as /tmp: only links of
// root, this user and the folder's owner are followed there.
//
// On Windows the result is always std::nullopt, because the system follows links there.
[[nodiscard]] core::Result<std::optional<std::filesystem::path>> link_target(const std::filesystem::path& place);

// Creates the folder, if it is missing, and its missing parents, all private to this user (on Windows with the
// permissions of the parent). Existing folders are neither changed nor checked. kPermissionDenied, kDiskFull, kNotFound
// (a file is in the way, or the home folder, which is never created, is missing) or kIo.
[[nodiscard]] core::Status make_private_folder(const std::filesystem::path& folder);

}  // namespace latebind::platform
