// HostFallback: ONNX Runtime's own CPU provider, by which a fused node's model is computed for a caller's numbers that
// no device of the session computes as ONNX defines it. Opened the first time that one is needed; nothing before.
//
// The library is the one that the host is in, or where that cannot be opened as one, as with Python's module, the one
// beside it, or one that lies where Latebind finds libraries. Any thread.
#pragma once

#include <mutex>
#include <optional>

#include "hosts/onnxruntime/session_settings.h"

namespace latebind::provider {

class HostFallback {
 public:
  // `options`: the session's.
  HostFallback(const Host& host, Options options);

  // Throws Failure where there is none, with what to do.
  [[nodiscard]] const Runtime& runtime();
  // Options with which models are loaded on it.
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  const Host& host_;
  Options options_;
  std::mutex mutex_;
  std::optional<Runtime> runtime_;  // guarded by mutex_
};

}  // namespace latebind::provider
