// SIGXFSZ, which ends a process that writes beyond its limit on file sizes (`ulimit -f`). How signals are handled is up
// to the host: a library may not ignore it for the whole process.
#pragma once

namespace latebind::platform {

// While it lives, a write of its thread beyond the limit fails (EFBIG), and sends no signal, then or later. Does
// nothing where there is no such signal.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  // Whether the thread had it unblocked before.
  [[maybe_unused]] bool ends_with_this_ = false;
};

}  // namespace latebind::platform
