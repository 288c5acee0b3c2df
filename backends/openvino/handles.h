// Owning handles of OpenVINO's objects: each object is freed exactly once, on every path, by the library's function for
// it.
//
// A handle does not keep the library or a parent object alive. The owner of handles therefore also holds a VendorCore,
// declared before them so that it is destroyed last. Handles are movable, and used by one thread at a time.
#pragma once

#include <utility>

#include "backends/openvino/abi.h"

namespace latebind::openvino {

template <class T, void (*abi::Api::*Free)(T*)>
class Handle {
 public:
  Handle() = default;
  Handle(const abi::Api& api, T* object) : api_(&api), object_(object) {}
  Handle(Handle&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~Handle() { reset(); }

  [[nodiscard]] T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_ != nullptr) (api_->*Free)(std::exchange(object_, nullptr));
  }

 private:
  const abi::Api* api_ = nullptr;
  T* object_ = nullptr;
};

using CoreHandle = Handle<abi::Core, &abi::Api::ov_core_free>;
using ModelHandle = Handle<abi::Model, &abi::Api::ov_model_free>;
using CompiledModelHandle = Handle<abi::CompiledModel, &abi::Api::ov_compiled_model_free>;
using InferRequestHandle = Handle<abi::InferRequest, &abi::Api::ov_infer_request_free>;
using TensorHandle = Handle<abi::Tensor, &abi::Api::ov_tensor_free>;
using ConstPortHandle = Handle<abi::ConstPort, &abi::Api::ov_output_const_port_free>;

}  // namespace latebind::openvino
