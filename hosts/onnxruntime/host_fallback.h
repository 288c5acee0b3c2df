// HostFallback: ONNX Runtime's CPU provider, which computes a fused node's model for numbers that no device of the
// session computes as ONNX defines it. Opened on first use only.
//
// The library is the host's. If that cannot be opened as a file, as with Python's module, it is the one beside it, or
// one that Latebind's search finds. Any thread.
#pragma once

#include <optional>

#include "core/threads/mutex.h"
#include "hosts/onnxruntime/session_settings.h"

namespace latebind::provider {

class HostFallback {
 public:
  // `options` are those of the session.
  HostFallback(const Host& host, Options options);

  // Throws Failure, with a remedy, if there is no such library.
  [[nodiscard]] const Runtime& runtime();
  // Whether the session's setting `strict` forbids that the host's CPU answers for a device.
  [[nodiscard]] bool is_forbidden() const { return is_forbidden_; }
  // The options with which models are loaded on it.
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  const Host& host_;
  Options options_;
  const bool is_forbidden_;
  core::Mutex mutex_;
  std::optional<Runtime> runtime_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::provider
