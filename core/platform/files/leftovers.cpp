#include "core/platform/files/leftovers.h"

#include <algorithm>
#include <vector>

#include "core/platform/process_generation.h"
#include "core/platform/signal_watch.h"
#include "core/threads/mutex.h"

namespace latebind::platform {
namespace {

struct Leftovers {
  core::Mutex mutex;
  std::vector<std::filesystem::path> all LB_GUARDED_BY(mutex);
};

// A child made by fork() has no leftovers: they are its parent's.
Leftovers& leftovers() {
  static PerProcess<Leftovers> instance;
  return instance.get();
}

}  // namespace

void add_leftover(const std::filesystem::path& place) {
  auto& known = leftovers();
  const core::MutexLock lock(known.mutex);
  known.all.push_back(place);
}

core::Result<std::filesystem::path> make_leftover(const std::function<core::Result<std::filesystem::path>()>& make) {
  auto& known = leftovers();
  const core::MutexLock lock(known.mutex);
  known.all.emplace_back();
  try {
    auto made = make();
    if (made.ok()) {
      known.all.back() = *made;
    } else {
      known.all.pop_back();
    }
    return made;
  } catch (...) {
    known.all.pop_back();
    throw;
  }
}

void drop_leftover(const std::filesystem::path& place) noexcept {
  auto& known = leftovers();
  const core::MutexLock lock(known.mutex);
  const auto found = std::ranges::find(known.all, place);
  if (found != known.all.end()) known.all.erase(found);
}

// Keeps the mutex: no other thread adds a file before the process ends.
void remove_leftovers() noexcept LB_NOT_ANALYSED {
  // Another thread may add files to a folder while it is being removed.
  constexpr int kAttempts = 16;
  auto& known = leftovers();
  known.mutex.lock();
  for (const auto& place : known.all) {
    std::error_code error;
    for (int i = 0; i < kAttempts; ++i) {
      try {
        std::filesystem::remove_all(place, error);
        if (!error) break;
      } catch (const std::exception&) {
        break;  // no memory; a later start removes it
      }
    }
  }
}

void remove_leftovers_on_signals() {
  watch_signals(remove_leftovers);
}

}  // namespace latebind::platform
