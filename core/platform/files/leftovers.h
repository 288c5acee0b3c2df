// What this process must remove when a signal ends it: its temporary files and folders, and its sockets in the file
// system. Internal to core/platform and to code that makes such sockets, except for the two functions for programs at
// the end. All functions may be called from any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "core/result.h"

namespace latebind::platform {

void add_leftover(const std::filesystem::path& place);
// Lets `make` create a file or a folder and adds it, so that a signal comes before or after both. Fails as `make` does,
// which must not call anything from this header.
[[nodiscard]] core::Result<std::filesystem::path> make_leftover(
    const std::function<core::Result<std::filesystem::path>()>& make);
// Removes a place from the list, because it was removed or is about to get its final name. Does nothing for a place
// that was not added.
void drop_leftover(const std::filesystem::path& place) noexcept;

// Removes all leftovers, and blocks any thread that would add another one forever. Call it when the process is about to
// end.
void remove_leftovers() noexcept;

// For programs: from now on, the signals of core/platform/signal_watch.h remove the leftovers before they end this
// process, unless a handler that is set there takes care of them. Call it once, before there is another thread.
void remove_leftovers_on_signals();

}  // namespace latebind::platform
