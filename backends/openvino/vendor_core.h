// One vendor core with the library that it came from. Shared by all that was made from it, so that it is destroyed
// after them.
//
// The vendor's core may be used from several threads at once.
#pragma once

#include <memory>

#include "backends/openvino/handles.h"
#include "backends/openvino/inherited.h"
#include "backends/openvino/load.h"

namespace latebind::openvino {

struct VendorCore {
  std::shared_ptr<const Library> library;
  CoreHandle core;  // after the library, so that it is freed first

  static core::Result<std::shared_ptr<const VendorCore>> create(std::shared_ptr<const Library> library);

  VendorCore() { count_core(); }
  VendorCore(const VendorCore&) = delete;
  VendorCore& operator=(const VendorCore&) = delete;
  ~VendorCore() {
    const Inside inside;
    core.reset();
    discount_core();
  }
};

}  // namespace latebind::openvino
