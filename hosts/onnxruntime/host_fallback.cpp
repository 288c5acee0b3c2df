#include "hosts/onnxruntime/host_fallback.h"

#include <utility>

#include "core/text/option_text.h"

namespace latebind::provider {
namespace {

bool is_strict(const Options& options) {
  auto value = LB_INIT(lb_option_value);
  if (lb_options_get(options.get(), "strict", &value) != LB_OK || value.text == nullptr) return false;
  return core::parse_truth(value.text).value_or(false);
}

}  // namespace

HostFallback::HostFallback(const Host& host, Options options)
    : host_(host), options_(std::move(options)), is_forbidden_(is_strict(options_)) {
  options_.set("device", "onnxruntime:CPU");
  options_.set("precision", "f32");
}

const Runtime& HostFallback::runtime() {
  const core::MutexLock lock(mutex_);
  if (!runtime_) runtime_ = make_runtime(host_, options_, NestedLibrary::kHosts);
  return *runtime_;
}

}  // namespace latebind::provider
