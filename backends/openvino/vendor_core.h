// VendorCore: one vendor core and its library. All objects made from the core share it, so that it is destroyed after
// them.
//
// Several threads may use the vendor's core at once.
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
