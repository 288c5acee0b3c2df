// Memory that was freed and that the allocator has not returned to the system.
#pragma once

namespace latebind::platform {

// Returns whole free pages to the system. Returns false if there were none, or if the system's allocator does that by
// itself. It takes some milliseconds, during which other threads may have to wait for memory. May be called from any
// thread.
bool return_freed_memory() noexcept;

}  // namespace latebind::platform
