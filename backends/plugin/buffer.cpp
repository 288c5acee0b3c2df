#include "backends/plugin/buffer.h"

#include <fmt/format.h>

#include "backends/plugin/host.h"
#include "core/log.h"

namespace latebind::plugin {

using core::Result;
using core::Status;
using core::StatusCode;

Result<std::shared_ptr<DeviceBuffer>> DeviceBuffer::create(StatePointer state, std::string_view device,
                                                           std::uint64_t size) {
  const std::string& who = state->plugin().name;
  if (state->slots().create_buffer == nullptr)
    return Status(StatusCode::kUnsupported, fmt::format("{} has no memory of its own for tensors", who));
  LB_RETURN_IF_ERROR(state->plugin().check_process());
  std::string name(device);
  lbb_buffer* handle = nullptr;
  LB_RETURN_IF_ERROR(called(who, "create_buffer", [&](lbb_error* error) {
    return state->slots().create_buffer(state->handle(), name.c_str(), size, &handle, error);
  }));
  if (handle == nullptr) return breach(fmt::format("{} created no buffer, and reported no error", who));
  return std::shared_ptr<DeviceBuffer>(new DeviceBuffer(std::move(state), std::move(name), size, handle));
}

DeviceBuffer::~DeviceBuffer() {
  if (!state_->plugin().opened.this_process()) return;
  const Status destroyed =
      called_without_error(state_->plugin().name, "destroy_buffer", [&] { state_->slots().destroy_buffer(handle_); });
  if (!destroyed.ok()) core::log(core::LogLevel::kWarning, destroyed.to_string());
}

Status DeviceBuffer::check(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset <= size_ && bytes <= size_ - offset) return {};
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} bytes from {} on are not in a buffer of {} bytes", bytes, offset, size_));
}

Status DeviceBuffer::write(std::uint64_t offset, std::span<const std::byte> from) {
  LB_RETURN_IF_ERROR(check(offset, from.size()));
  LB_RETURN_IF_ERROR(state_->plugin().check_process());
  return called(state_->plugin().name, "write_buffer", [&](lbb_error* error) {
    return state_->slots().write_buffer(handle_, offset, from.data(), from.size(), error);
  });
}

Status DeviceBuffer::read(std::uint64_t offset, std::span<std::byte> to) const {
  LB_RETURN_IF_ERROR(check(offset, to.size()));
  LB_RETURN_IF_ERROR(state_->plugin().check_process());
  return called(state_->plugin().name, "read_buffer", [&](lbb_error* error) {
    return state_->slots().read_buffer(handle_, offset, to.data(), to.size(), error);
  });
}

}  // namespace latebind::plugin
