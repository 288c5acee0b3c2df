// SIGXFSZ, which ends a process that writes beyond its limit on file sizes (`ulimit -f`). What signals do is the host's
// to say: a library may not ignore it for all.
#pragma once

namespace latebind::platform {

// While it lives, a write of its thread beyond the limit fails (EFBIG), and no signal comes of it, then or later.
// Nothing where there is no such signal.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  // Whether the thread let it through before.
  [[maybe_unused]] bool ends_with_this_ = false;
};

}  // namespace latebind::platform
