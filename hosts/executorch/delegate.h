// LatebindBackend: Latebind as a backend of ExecuTorch, under the id LatebindBackend.
//
// One object exists for the life of the process, because a backend cannot be removed from ExecuTorch's registry.
// Creating it loads no library. All functions may be called from any thread; a loaded method may be used by one thread
// at a time.
#pragma once

#include <executorch/runtime/backend/interface.h>

#include <string>
#include <vector>

#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"
#include "hosts/executorch/method.h"
#include "hosts/executorch/options.h"
#include "latebind/latebind.h"

namespace latebind::delegate {

class LatebindBackend final : public ::executorch::runtime::BackendInterface {
 public:
  LatebindBackend() = default;
  LatebindBackend(const LatebindBackend&) = delete;
  LatebindBackend& operator=(const LatebindBackend&) = delete;
  ~LatebindBackend() override;

  // Whether there is any device, even one for embedding models only. If not, the remedy and the reasons are logged once
  // for as long as they stay the same.
  [[nodiscard]] bool is_available() const override;

  // Loads a method. Options of set_option() override compile specs, and the options of this load override both. Returns
  // DelegateInvalidCompatibility if no device takes the payload, InvalidArgument for wrong options, and InvalidProgram
  // for a damaged payload.
  [[nodiscard]] ::executorch::runtime::Result<::executorch::runtime::DelegateHandle*> init(
      ::executorch::runtime::BackendInitContext& context, ::executorch::runtime::FreeableBuffer* processed,
      ::executorch::runtime::ArrayRef<::executorch::runtime::CompileSpec> compile_specs) const override;

  [[nodiscard]] ::executorch::runtime::Error execute(
      ::executorch::runtime::BackendExecutionContext& context, ::executorch::runtime::DelegateHandle* handle,
      ::executorch::runtime::Span<::executorch::runtime::EValue*> args) const override;

  // Sets options for later loads; the keys are those of LoadOptions. Takes either all options or none.
  [[nodiscard]] ::executorch::runtime::Error set_option(
      ::executorch::runtime::BackendOptionContext& context,
      const ::executorch::runtime::Span<::executorch::runtime::BackendOption>& options) override;

  // Gets options with the same keys, and active_device, active_precision and active_runtime_version: what would answer
  // now for the method that was loaded last and still exists, or "" if no such method exists. Values are strings.
  [[nodiscard]] ::executorch::runtime::Error get_option(
      ::executorch::runtime::BackendOptionContext& context,
      ::executorch::runtime::Span<::executorch::runtime::BackendOption>& options) override;

  void destroy(::executorch::runtime::DelegateHandle* handle) const override;

 private:
  // Created at the first call in this process; null if memory runs out.
  [[nodiscard]] lb_runtime* runtime() const;
  [[nodiscard]] ::executorch::runtime::Error read_options(
      ::executorch::runtime::BackendInitContext& context,
      ::executorch::runtime::ArrayRef<::executorch::runtime::CompileSpec> compile_specs, const std::string& method,
      LoadOptions& options) const;

  mutable core::Mutex mutex_;
  mutable lb_runtime* runtime_ LB_GUARDED_BY(mutex_) = nullptr;
  // A child made by fork() does not touch its parent's runtime.
  mutable platform::MadeIn runtime_made_ LB_GUARDED_BY(mutex_);
  // The reason for unavailability that was logged last.
  mutable std::string logged_reason_ LB_GUARDED_BY(mutex_);
  mutable std::vector<LoadedMethod*> loaded_ LB_GUARDED_BY(mutex_);  // in the order in which they were loaded
  LoadOptions options_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::delegate
