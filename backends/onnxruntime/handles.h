// Owning pointers to the vendor's objects, which are released on every path.
#pragma once

#include <memory>

#include "backends/onnxruntime/abi.h"

namespace latebind::onnxruntime {

// Created as Owned<abi::Value>(pointer, api.ReleaseValue); used by one thread at a time.
template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

}  // namespace latebind::onnxruntime
