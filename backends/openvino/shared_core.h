// A vendor core that calls share, and the end of all of them: when the last compiled model of the process goes, every
// SharedCore lets go of its core.
//
// A core that stayed would keep threads without a model, which a child made by fork() waits for in vain
// (backends/openvino/inherited.h). The next call makes another core, in some milliseconds. What the vendor's library
// has opened by itself stays in the process with it (decision 6).
//
// Thread-safe. A child has none of its parent's: what it makes is its own.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/platform/process_generation.h"

namespace latebind::openvino {

class SharedCore {
 public:
  using Pointer = std::shared_ptr<const VendorCore>;

  SharedCore();
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;
  ~SharedCore();

  // Returns the core, and creates it if there is none; concurrent callers wait for the creation. An error is not
  // cached.
  [[nodiscard]] core::Result<Pointer> get(std::shared_ptr<const Library> library);

 private:
  friend class ModelCount;
  const platform::MadeIn made_;
  std::mutex creation_mutex_;  // held while the vendor creates one
  Pointer core_;               // guarded by the lock of all
};

// Counts a compiled model, until after it and its core's handle have gone.
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
