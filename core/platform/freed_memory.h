// Memory that was freed and that the allocator has not returned to the system.
#pragma once

namespace latebind::platform {

// Returns it, as far as whole pages of it are free; false where there was none, or the system's allocator does that by
// itself. Takes some milliseconds, in which other threads may have to wait for memory. Any thread.
bool return_freed_memory() noexcept;

}  // namespace latebind::platform
