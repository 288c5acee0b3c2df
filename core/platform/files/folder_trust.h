// Folders whose content is trusted because nobody else could have put it there: asking for that, and making such; and
// links that nobody has laid for us.
//
// For what this process is about to take from a folder and run, or let stand for what runs, and for what it is about to
// write. Any thread.
#pragma once

#include <filesystem>
#include <optional>

#include "core/result.h"
#include "core/status.h"

namespace latebind::platform {

// Ok when nobody but root and this user (the effective one) can change what `place` leads to: a folder, or a file. All
// folders on the way are asked, those that symbolic links lead through as well; a relative path begins in the current
// folder. kPermissionDenied names the one at fault and why, in one line: it belongs to somebody else, or others may
// write to it. kNotFound, kPermissionDenied or kIo when it cannot be looked at.
//
// Writing is no fault
// - of a parent in which nobody may rename or remove what is another's (the sticky bit), such as /tmp; a link in it
//   must be root's or this user's;
// - of a group that has no other user in it: the user's private one, or one without members. Groups are as the group
//   database and /etc/passwd list them; of a folder with an access list, the group's right is a fault, whoever it is.
//
// A place that is not there yet is judged by the folder that it would be made in, as a parent.
//
// On Windows always ok: access lists are not asked there.
[[nodiscard]] core::Status check_folder_trust(const std::filesystem::path& place);

// Where a symbolic link leads, as it stands there: for whoever follows links himself, which goes around the kernel's
// own caution (protected_symlinks). Nothing for what is no link, is not there or cannot be looked at.
// kPermissionDenied for a link that is another user's, in a folder that others may write to but not remove others'
// files in, such as /tmp: root, this user and the folder's owner alone have a say in where a name leads there.
//
// On Windows always nothing: links are followed by the system there.
[[nodiscard]] core::Result<std::optional<std::filesystem::path>> link_target(const std::filesystem::path& place);

// Makes the folder, if it is not there, and those that are missing above it, all for this user alone (on Windows with
// the rights of the folder above). What is there already stays as it is and is not judged. kPermissionDenied,
// kDiskFull, kNotFound (a file is in the way, or it would be in a home that is not there: nobody is made a home) or
// kIo.
[[nodiscard]] core::Status make_private_folder(const std::filesystem::path& folder);

}  // namespace latebind::platform
