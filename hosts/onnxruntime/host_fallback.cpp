#include "hosts/onnxruntime/host_fallback.h"

#include <utility>

namespace latebind::provider {

HostFallback::HostFallback(const Host& host, Options options) : host_(host), options_(std::move(options)) {
  options_.set("device", "onnxruntime:CPU");
  options_.set("precision", "f32");
}

const Runtime& HostFallback::runtime() {
  const core::MutexLock lock(mutex_);
  if (!runtime_) runtime_ = make_runtime(host_, options_, NestedLibrary::kHosts);
  return *runtime_;
}

}  // namespace latebind::provider
