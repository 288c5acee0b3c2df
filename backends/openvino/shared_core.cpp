#include "backends/openvino/shared_core.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/platform/dynamic_library.h"

namespace latebind::openvino {
namespace {

// The names of all vendor libraries begin with this.
constexpr const char* kLibraries = "libopenvino";

struct All {
  core::Mutex mutex;
  std::vector<SharedCore*> holders LB_GUARDED_BY(mutex);
  std::size_t models LB_GUARDED_BY(mutex) = 0;
};

All& all() noexcept {
  static platform::PerProcess<All> instance;
  return instance.get();
}

}  // namespace

SharedCore::SharedCore() {
  All& every = all();
  const core::MutexLock lock(every.mutex);
  every.holders.push_back(this);
}

SharedCore::~SharedCore() {
  if (!made_.this_process()) return;
  All& every = all();
  const core::MutexLock lock(every.mutex);
  std::erase(every.holders, this);
}

core::Result<SharedCore::Pointer> SharedCore::get(std::shared_ptr<const Library> library) {
  All& every = all();
  const core::MutexLock creation(creation_mutex_);
  {
    const core::MutexLock lock(every.mutex);
    if (core_) return core_;
  }
  LB_ASSIGN_OR_RETURN(auto made, VendorCore::create(std::move(library)));
  const core::MutexLock lock(every.mutex);
  core_ = made;
  return made;
}

ModelCount::ModelCount() {
  All& every = all();
  const core::MutexLock lock(every.mutex);
  ++every.models;
}

ModelCount::~ModelCount() {
  if (!made_.this_process()) return;
  All& every = all();
  {
    const core::MutexLock lock(every.mutex);
    if (--every.models > 0) return;
  }
  try {
    platform::keep_libraries_named(kLibraries);
  } catch (...) {
    return;  // no memory: the cores and their libraries stay
  }
  for (;;) {
    SharedCore::Pointer core;  // destroyed after the lock is released
    const core::MutexLock lock(every.mutex);
    const auto holder =
        std::ranges::find_if(every.holders, [](const SharedCore* one) { return one->core_ != nullptr; });
    if (every.models > 0 || holder == every.holders.end()) return;
    core = std::move((*holder)->core_);
  }
}

}  // namespace latebind::openvino
