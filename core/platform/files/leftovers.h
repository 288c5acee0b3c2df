// What this process must not leave behind when a signal ends it: its temporary files and folders. Internal to
// core/platform but for the two calls of programs. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "core/result.h"

namespace latebind::platform {

void add_leftover(const std::filesystem::path& place);
// Lets `make` make a file or a folder and adds what it gives, so that a signal comes before or after both. The errors
// of `make`, which must not call anything of this header.
[[nodiscard]] core::Result<std::filesystem::path> make_leftover(
    const std::function<core::Result<std::filesystem::path>()>& make);
// No leftover any more: it was removed, or is about to get its final name. Nothing happens for what was not added.
void drop_leftover(const std::filesystem::path& place) noexcept;

// Removes them all, and holds whoever would add another one for ever: the process is about to end.
void remove_leftovers() noexcept;

// From now on, SIGINT, SIGTERM and SIGHUP (Windows: Ctrl+C and the closing of the console) remove the leftovers before
// they end this process as they would have anyhow. A signal that is ignored stays ignored. For programs, once, before
// there is another thread: the library leaves signals to its host.
void remove_leftovers_on_signals();

}  // namespace latebind::platform
