// Folders whose content is trusted because nobody else could have put it there: checking and creating them; and links
// that no other user has planted.
//
// For what this process is about to take from a folder and execute or trust like code, and for what it is about to
// write. Any thread.
#pragma once

#include <filesystem>
#include <optional>

#include "core/result.h"
#include "core/status.h"

namespace latebind::platform {

// Ok when nobody but root and this user (the effective one) can change what `place` leads to: a folder, or a file. All
// folders on the path are checked, including those behind symbolic links; a relative path begins in the current folder.
// kPermissionDenied names the offending one and why, in one line: it belongs to another user, or others may write to
// it. kNotFound, kPermissionDenied or kIo when it cannot be examined.
//
// Write permission is allowed
// - for a parent with the sticky bit (nobody may rename or remove what is another user's), such as /tmp; a link in it
//   must be root's or this user's;
// - for a group that has no other user in it: the user's private one, or one without members. Groups are as the group
//   database and /etc/passwd list them; for a folder with an access list, any group's write permission is an offence.
//
// A place that does not exist yet is judged by the folder that it would be created in, as a parent.
//
// On Windows always ok: access lists are not checked there.
[[nodiscard]] core::Status check_folder_trust(const std::filesystem::path& place);

// The target of a symbolic link, unresolved: for code that follows links itself, which bypasses the kernel's own
// protection (protected_symlinks). Nothing for what is not a link, does not exist or cannot be examined.
// kPermissionDenied for another user's link in a sticky folder that others may write to, such as /tmp: only links of
// root, this user and the folder's owner are followed there.
//
// On Windows always nothing: links are followed by the system there.
[[nodiscard]] core::Result<std::optional<std::filesystem::path>> link_target(const std::filesystem::path& place);

// Creates the folder, if it is missing, and its missing parents, all private to this user (on Windows with the rights
// of the parent). Existing folders stay as they are and are not checked. kPermissionDenied, kDiskFull, kNotFound (a
// file is in the way, or it would be in a missing home folder, which is never created) or kIo.
[[nodiscard]] core::Status make_private_folder(const std::filesystem::path& folder);

}  // namespace latebind::platform
