// Stock ONNX Runtime, opened at run time, for yardsticks that are hosts of Latebind's provider. There is nothing to
// measure after an error: every one ends the program.
#pragma once

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/yardstick.h"

namespace latebind::bench {

class StockHost {
 public:
  // `library`: a path, which is not searched for.
  explicit StockHost(const char* library) {
    void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) die(dlerror());
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(opened, "OrtGetApiBase"));
    if (base == nullptr) die("there is no OrtGetApiBase");
    api_ = base()->GetApi(ORT_API_VERSION);
    if (api_ == nullptr) die("this ONNX Runtime is too old");
    check(api_->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "bench", &env_));
  }
  StockHost(const StockHost&) = delete;
  StockHost& operator=(const StockHost&) = delete;
  ~StockHost() { api_->ReleaseEnv(env_); }

  const OrtApi* operator->() const { return api_; }
  [[nodiscard]] OrtEnv* env() const { return env_; }
  void check(OrtStatus* status) const {
    if (status != nullptr) die(api_->GetErrorMessage(status));
  }

  // Registers Latebind's provider, and gives its devices.
  [[nodiscard]] std::vector<const OrtEpDevice*> latebind(const char* provider) const {
    check(api_->RegisterExecutionProviderLibrary(env_, "latebind", provider));
    const OrtEpDevice* const* all = nullptr;
    std::size_t count = 0;
    check(api_->GetEpDevices(env_, &all, &count));
    std::vector<const OrtEpDevice*> ours;
    for (std::size_t i = 0; i < count; ++i)
      if (std::string_view(api_->EpDevice_EpName(all[i])) == "Latebind") ours.push_back(all[i]);
    if (ours.empty()) die("Latebind offers no device");
    return ours;
  }

  // For ReleaseSessionOptions. On the host's CPU provider where there are no devices.
  [[nodiscard]] OrtSessionOptions* options(int threads, const std::vector<const OrtEpDevice*>& devices,
                                           const std::vector<std::pair<std::string, std::string>>& settings) const {
    OrtSessionOptions* options = nullptr;
    check(api_->CreateSessionOptions(&options));
    check(api_->SetIntraOpNumThreads(options, threads));
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : settings) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    if (!devices.empty()) {
      check(api_->SessionOptionsAppendExecutionProvider_V2(options, env_, devices.data(), devices.size(), keys.data(),
                                                           values.data(), keys.size()));
    }
    return options;
  }

 private:
  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
};

}  // namespace latebind::bench
