// What this process must not leave behind when a signal ends it: its temporary files and folders, and its sockets in
// the file system. Internal to core/platform and to who makes such sockets, except for the two functions for programs.
// Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "core/result.h"

namespace latebind::platform {

void add_leftover(const std::filesystem::path& place);
// Lets `make` create a file or a folder and adds the result, so that a signal comes before or after both. The errors of
// `make`, which must not call anything from this header.
[[nodiscard]] core::Result<std::filesystem::path> make_leftover(
    const std::function<core::Result<std::filesystem::path>()>& make);
// No longer a leftover: it was removed, or is about to get its final name. Does nothing for what was not added.
void drop_leftover(const std::filesystem::path& place) noexcept;

// Removes them all, and blocks any thread that would add another one forever: the process is about to end.
void remove_leftovers() noexcept;

// From now on, the signals of core/platform/signal_watch.h remove the leftovers before they end this process as they
// would have anyway, unless a handler that is set there takes care of them. For programs, once, before there is another
// thread.
void remove_leftovers_on_signals();

}  // namespace latebind::platform
