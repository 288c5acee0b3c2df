// DeviceBuffer: memory of a device, for tensors that one run writes and another one reads without a copy.
//
// A buffer belongs to one backend and one device. It may be used from any thread; writes and runs that use the same
// range at the same time are the caller's mistake. It keeps its plug-in's state alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backends/plugin/state.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::plugin {

class DeviceBuffer {
 public:
  // Allocates `size` bytes on the device. kUnsupported when the plug-in has no buffers, otherwise its errors.
  [[nodiscard]] static core::Result<std::shared_ptr<DeviceBuffer>> create(StatePointer state, std::string_view device,
                                                                          std::uint64_t size);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  // Copies bytes to or from the device, from `offset` in the buffer on. kInvalidArgument for a range outside of it.
  [[nodiscard]] core::Status write(std::uint64_t offset, std::span<const std::byte> from);
  [[nodiscard]] core::Status read(std::uint64_t offset, std::span<std::byte> to) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& device() const { return device_; }
  [[nodiscard]] lbb_buffer* handle() const { return handle_; }
  [[nodiscard]] const State& state() const { return *state_; }
  // Returns kInvalidArgument unless `bytes` bytes from `offset` on are inside the buffer.
  [[nodiscard]] core::Status check(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  DeviceBuffer(StatePointer state, std::string device, std::uint64_t size, lbb_buffer* handle)
      : state_(std::move(state)), device_(std::move(device)), size_(size), handle_(handle) {}

  const StatePointer state_;
  const std::string device_;
  const std::uint64_t size_;
  lbb_buffer* const handle_;
};

// A tensor in a buffer, from `offset` bytes on; or, without a buffer, at `view.data`.
struct PlacedTensor {
  core::TensorView view{};
  std::shared_ptr<DeviceBuffer> buffer = nullptr;
  std::uint64_t offset = 0;
};

}  // namespace latebind::plugin
