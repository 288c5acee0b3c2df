// The objects behind the slots of an offered backend, and how a slot reports. Each object is constant after it was
// made.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/plugin/contract.h"
#include "core/backend/backend.h"
#include "core/backend/capabilities.h"
#include "core/status.h"

struct lbb_backend {
  const lbb_host* host;
  std::shared_ptr<latebind::core::Backend> backend;
};

// Memory that stands for a device's.
struct lbb_buffer {
  struct Free {
    void operator()(void* p) const noexcept;
  };
  std::unique_ptr<void, Free> bytes;
  std::size_t size;
};

struct lbb_executable {
  // Describes the model for describe_executable(). `is_kept` says that it refers to the host's memory.
  lbb_executable(const lbb_host* of, latebind::core::LoadedModel model, bool is_kept);
  lbb_executable(const lbb_executable&) = delete;
  lbb_executable& operator=(const lbb_executable&) = delete;

  const lbb_host* host;
  std::unique_ptr<latebind::core::Executable> executable;
  std::function<latebind::core::Result<latebind::core::Blob>()> export_blob;
  std::deque<lbb_tensor_info> infos;
  std::vector<const lbb_tensor_info*> inputs;
  std::vector<const lbb_tensor_info*> outputs;
  lbb_active active;
};

namespace latebind::table {

// Gives the host the error and returns its code.
[[nodiscard]] lbb_code report(const lbb_host& host, lbb_error* error, const core::Status& status) noexcept;

// Calls what a slot does, which returns a Status. No exception leaves it.
template <class Function>
[[nodiscard]] lbb_code guarded(const lbb_host& host, lbb_error* error, const Function& function) noexcept {
  core::Status status;
  try {
    status = function();
  } catch (...) {
    status = core::Status::of_exception();
  }
  return status.ok() ? lbb_code{LBB_OK} : report(host, error, status);
}

// The slots that run a model, and those of its memory. lbb_table says what they do.
lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, std::size_t input_count,
                 lbb_output* const* outputs, std::size_t output_count, const lbb_run* run, lbb_error* error) noexcept;
lbb_code create_buffer(lbb_backend* backend, const char* device, std::uint64_t size, lbb_buffer** buffer,
                       lbb_error* error) noexcept;
void destroy_buffer(lbb_buffer* buffer) noexcept;
lbb_code write_buffer(lbb_buffer* buffer, std::uint64_t offset, const void* data, std::uint64_t size,
                      lbb_error* error) noexcept;
lbb_code read_buffer(lbb_buffer* buffer, std::uint64_t offset, void* data, std::uint64_t size,
                     lbb_error* error) noexcept;
lbb_code execute_to_buffers(lbb_executable* executable, const lbb_tensor* const* inputs, std::size_t input_count,
                            const lbb_tensor* const* outputs, std::size_t output_count, const lbb_run* run,
                            lbb_error* error) noexcept;

}  // namespace latebind::table
