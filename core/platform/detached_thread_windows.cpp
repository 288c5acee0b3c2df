#include <process.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/platform/detached_thread.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

void run_detached(std::function<void()> work) {
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  const auto thread = ::_beginthreadex(
      nullptr, 0,
      [](void* given) -> unsigned {
        const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(given));
        (*mine)();
        return 0;
      },
      owned.get(), 0, nullptr);
  if (thread == 0) throw std::system_error(errno, std::generic_category(), "no thread");
  // The thread owns it now.
  (void)owned.release();
  ::CloseHandle(reinterpret_cast<HANDLE>(thread));
}

}  // namespace latebind::platform
