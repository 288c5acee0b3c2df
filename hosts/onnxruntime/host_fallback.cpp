#include "hosts/onnxruntime/host_fallback.h"

#include <string_view>
#include <utility>

namespace latebind::provider {
namespace {

bool is_strict(const Options& options) {
  auto value = LB_INIT(lb_option_value);
  if (lb_options_get(options.get(), "strict", &value) != LB_OK || value.text == nullptr) return false;
  const std::string_view text = value.text;
  return text == "1" || text == "true" || text == "yes" || text == "on";
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
