// SharedCore: a vendor core that calls share. When the last compiled model of the process is destroyed, every
// SharedCore releases its core.
//
// A core that stayed would keep threads without a model, for which a child made by fork() would wait forever
// (inherited.h). The next call creates another core within milliseconds. Libraries that the vendor's library has opened
// stay in the process (decision 6).
//
// Thread-safe. In a child, a SharedCore ignores its parent's core and creates its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"

namespace latebind::openvino {

class SharedCore {
 public:
  using Pointer = std::shared_ptr<const VendorCore>;

  SharedCore();
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;
  ~SharedCore();

  // Returns the core, and creates it first if necessary. Concurrent callers wait for the creation. Errors are not
  // cached.
  [[nodiscard]] core::Result<Pointer> get(std::shared_ptr<const Library> library);

 private:
  friend class ModelCount;
  const platform::MadeIn made_;
  core::Mutex creation_mutex_;  // held while the vendor creates a core
  Pointer core_;                // guarded by the mutex that all SharedCores share
};

// Counts a compiled model until after the model and its reference to the core are destroyed.
class ModelCount {
 public:
  ModelCount();
  ModelCount(const ModelCount&) = delete;
  ModelCount& operator=(const ModelCount&) = delete;
  ~ModelCount();

 private:
  friend class SharedCore;
  const platform::MadeIn made_;
};

}  // namespace latebind::openvino
