#include "hosts/onnxruntime/given_initializers.h"

#include <array>
#include <cstdint>
#include <utility>

namespace latebind::provider {

GivenInitializers::GivenInitializers(const Host& host, const abi::SessionOptions* options) : host_(host) {
  constexpr int kDeviceAllocator = 0;
  constexpr int kDefaultMemory = 0;
  constexpr auto kF32 = static_cast<abi::ElementType>(1);
  constexpr std::array<std::int64_t, 1> kShape{1};
  abi::MemoryInfo* memory = nullptr;
  host_.check(host_->CreateCpuMemoryInfo(kDeviceAllocator, kDefaultMemory, &memory));
  abi::Status* failed = host_->CreateTensorWithDataAsOrtValue(
      Host::need(memory, "kind of memory"), &zero_, sizeof zero_, kShape.data(), kShape.size(), kF32, &value_);
  host_->ReleaseMemoryInfo(memory);
  host_.check(failed);
  failed = value_ != nullptr ? host_->CloneSessionOptions(options, &options_) : nullptr;
  if (failed == nullptr && options_ != nullptr) return;
  release();
  host_.check(failed);
  Host::need(value_, "copy of a session's options");
}

bool GivenInitializers::has(const std::string& name) const {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  if (options_ == nullptr || name.empty()) return false;
  abi::Status* refused = host_->AddInitializer(options_, name.c_str(), value_);
  if (refused != nullptr) host_->ReleaseStatus(refused);
  return known_.emplace(name, refused != nullptr).first->second;
}

void GivenInitializers::release() {
  if (options_ != nullptr) host_->ReleaseSessionOptions(std::exchange(options_, nullptr));
  if (value_ != nullptr) host_->ReleaseValue(std::exchange(value_, nullptr));
}

}  // namespace latebind::provider
