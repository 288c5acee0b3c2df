// Client: the devices of an opened plug-in, with what is made on them: buffers and executables. These keep the client
// alive. May be used from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/pjrt/api.h"
#include "backends/pjrt/stablehlo/text.h"
#include "core/result.h"

namespace latebind::pjrt {

class Client;

// An object of a client, which the plug-in frees.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<const Client> client, T* object, abi::Function destroy)
      : client_(std::move(client)), object_(object), destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : client_(std::move(other.client_)), object_(std::exchange(other.object_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned();

  [[nodiscard]] T* get() const { return object_; }

 private:
  std::shared_ptr<const Client> client_;
  T* object_ = nullptr;
  abi::Function destroy_{};
};

using OwnedBuffer = Owned<abi::Buffer>;
using OwnedProgram = Owned<abi::LoadedExecutable>;

class Client : public std::enable_shared_from_this<Client> {
 public:
  struct Device {
    abi::Device* handle = nullptr;
    std::string kind;  // as the plug-in names it: "NVIDIA H100 80GB HBM3"
  };

  // Creates the plug-in's client, which acquires the devices. kDeviceNotFound, with the plug-in's reason, if there are
  // none.
  static core::Result<std::shared_ptr<const Client>> create(std::shared_ptr<const Api> api);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  [[nodiscard]] const Api& api() const { return *api_; }
  [[nodiscard]] const std::string& platform() const { return platform_; }  // "cpu", "cuda", "tpu"
  [[nodiscard]] const std::string& platform_version() const { return platform_version_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

  // Compiles StableHLO for any device of this client.
  [[nodiscard]] core::Result<OwnedProgram> compile(std::string_view stablehlo) const;
  // Loads what serialize() gave.
  [[nodiscard]] core::Result<OwnedProgram> load(std::span<const std::byte> bytes) const;
  [[nodiscard]] core::Result<std::string> serialize(const OwnedProgram& program) const;
  // The number of results. An executable that another compiler made may have any number.
  [[nodiscard]] core::Result<std::size_t> result_count(const OwnedProgram& program) const;

  // Copies a tensor to the device. Returns when `data` is no longer needed.
  [[nodiscard]] core::Result<OwnedBuffer> upload(const Device& device, const void* data, Element element,
                                                 const Dims& dims, Doing doing) const;
  // Runs the program and returns its results, which may still be being computed.
  [[nodiscard]] core::Result<std::vector<OwnedBuffer>> execute(const OwnedProgram& program, const Device& device,
                                                               std::span<abi::Buffer* const> inputs,
                                                               std::size_t result_count) const;
  // Waits for a result and copies it. kInternal if its size is not `bytes`.
  [[nodiscard]] core::Status download(const OwnedBuffer& buffer, void* data, std::size_t bytes) const;

 private:
  Client(std::shared_ptr<const Api> api, abi::Client* handle) : api_(std::move(api)), handle_(handle) {}
  [[nodiscard]] core::Status describe();

  const std::shared_ptr<const Api> api_;
  abi::Client* const handle_;
  std::string platform_;
  std::string platform_version_;
  std::vector<Device> devices_;
};

template <class T>
Owned<T>::~Owned() {
  if (object_ != nullptr) client_->api().free(destroy_, object_);
}

}  // namespace latebind::pjrt
