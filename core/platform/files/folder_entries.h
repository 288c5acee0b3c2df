// The entries of a folder.
//
// The iterators of libstdc++'s std::filesystem terminate the process when there is no memory for a name; here that is a
// std::bad_alloc as everywhere else.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

namespace latebind::platform {

// Passes the path of each entry of `folder`, in no particular order, to `take` until it returns false. `error` says why
// the folder could not be read completely. From any thread.
void for_each_entry(const std::filesystem::path& folder, std::error_code& error,
                    const std::function<bool(const std::filesystem::path& entry)>& take);

}  // namespace latebind::platform
