// Environment: an open library with the vendor's environment, which logs to Latebind's log and sends no telemetry.
//
// A backend has one environment; sessions and executables share it and keep it alive. Constant after construction; any
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/onnxruntime/handles.h"
#include "backends/onnxruntime/load.h"
#include "core/result.h"

namespace latebind::onnxruntime {

class Environment {
 public:
  static core::Result<std::shared_ptr<const Environment>> create(std::shared_ptr<const Library> library);

  [[nodiscard]] const Library& library() const { return *library_; }
  [[nodiscard]] const abi::Api& api() const { return library_->api; }
  [[nodiscard]] abi::Env* env() const { return env_.get(); }
  // Describes a buffer as ordinary memory.
  [[nodiscard]] const abi::MemoryInfo* cpu_memory() const { return cpu_memory_.get(); }

  // The vendor's names of the execution providers in this library, preferred ones first.
  [[nodiscard]] core::Result<std::vector<std::string>> providers() const;

 private:
  Environment(std::shared_ptr<const Library> library, Owned<abi::Env> env, Owned<abi::MemoryInfo> cpu_memory)
      : library_(std::move(library)), env_(std::move(env)), cpu_memory_(std::move(cpu_memory)) {}

  const std::shared_ptr<const Library> library_;
  const Owned<abi::Env> env_;
  const Owned<abi::MemoryInfo> cpu_memory_;
};

}  // namespace latebind::onnxruntime
