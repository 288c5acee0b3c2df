// Lists the entries of a folder.
//
// The iterators of libstdc++'s std::filesystem terminate the process when there is no memory for a name. This function
// throws std::bad_alloc instead.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

namespace latebind::platform {

// Passes the path of each entry of `folder`, in no particular order, to `take` until it returns false. `error` says why
// the folder could not be read completely. May be called from any thread.
void for_each_entry(const std::filesystem::path& folder, std::error_code& error,
                    const std::function<bool(const std::filesystem::path& entry)>& take);

}  // namespace latebind::platform
