// What is in a folder.
//
// The iterators of libstdc++'s std::filesystem end the process when there is no memory for a name; here that is a
// std::bad_alloc as it is everywhere.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

namespace latebind::platform {

// Gives the path of each entry of `folder`, in no order, until `take` returns false. `error` says why it could not be
// read, or not to its end. From any thread.
void for_each_entry(const std::filesystem::path& folder, std::error_code& error,
                    const std::function<bool(const std::filesystem::path& entry)>& take);

}  // namespace latebind::platform
