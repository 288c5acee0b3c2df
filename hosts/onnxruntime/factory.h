// Factory: Latebind in ONNX Runtime's registry, one object for each registration.
//
// For each piece of hardware that the host knows and Latebind can use, the factory creates one OrtEpDevice, which the
// host then owns. Virtual devices need an OrtHardwareDevice that the host does not copy; the factory owns it and
// releases it at its end. The host copies metadata when it is passed. Except for the registration, the host calls all
// functions from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"
#include "hosts/onnxruntime/host_log.h"
#include "hosts/onnxruntime/provider.h"

namespace latebind::provider {

class Factory final : public abi::EpFactory {
 public:
  Factory(const abi::ApiBase& base, const char* registered_name, const abi::Logger* logger);
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;
  [[nodiscard]] const Host& host() const { return host_; }
  // A host may release a factory whose sessions still live; the last of them destroys it.
  void hold() { users_.fetch_add(1); }
  // Ends the host's own hold, and the use of its log.
  void unregister() {
    log_.end();
    release();
  }
  void release() {
    if (users_.fetch_sub(1) == 1) delete this;
  }
  void list(const abi::HardwareDevice* const* hardware, std::size_t count, abi::EpDevice** devices, std::size_t most,
            std::size_t* made);
  [[nodiscard]] abi::Ep* create(const abi::KeyValuePairs* const* metadata, const abi::HardwareDevice* const* hardware,
                                std::size_t count, const abi::SessionOptions* options, const abi::Logger* logger) const;
  [[nodiscard]] abi::Compatibility compatibility(const abi::HardwareDevice* const* hardware, std::size_t count,
                                                 const char* text) const;
  void explain(const abi::HardwareDevice* hardware, abi::IncompatibilityDetails* details) const;

 private:
  ~Factory();
  // The virtual devices that the application wants to see.
  enum class Virtual : std::uint8_t { kNone, kCompiled, kAll };
  [[nodiscard]] Virtual wanted_virtual_devices() const;
  struct VirtualDevice {
    abi::HardwareDevice* hardware = nullptr;
    Device device;
    std::string missing;  // what must be installed to compile for it; "" if nothing is missing
  };
  // Null for hardware of this machine.
  [[nodiscard]] const VirtualDevice* find_virtual(const abi::HardwareDevice* hardware) const;
  void list_virtual(bool all, abi::EpDevice** devices, std::size_t most, std::size_t* made);

  const Host host_;
  HostLog log_;
  const std::string registered_name_;
  // The runtime of this process: a child made by fork() creates a new one at its first call.
  [[nodiscard]] std::shared_ptr<const Runtime> runtime() const;
  struct OwnRuntime {
    platform::MadeIn made{};
    std::shared_ptr<const Runtime> runtime;
  };
  mutable std::atomic<const OwnRuntime*> runtime_;
  std::atomic<std::size_t> users_{1};
  mutable core::Mutex mutex_;
  std::deque<VirtualDevice> virtual_ LB_GUARDED_BY(mutex_);  // only grows
};

}  // namespace latebind::provider
