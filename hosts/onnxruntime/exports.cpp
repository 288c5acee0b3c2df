// The library's exports: the two functions that ONNX Runtime looks up, and one that reports which devices answer.
#include <algorithm>
#include <cstring>

#include "hosts/onnxruntime/factory.h"

#ifdef _WIN32
#define LATEBIND_EXPORT extern "C" __declspec(dllexport)
#else
#define LATEBIND_EXPORT extern "C" __attribute__((visibility("default")))
#endif

using latebind::provider::Factory;
namespace abi = latebind::provider::abi;

namespace {

// Uses the table that every version has: slot 0 has always been CreateStatus.
abi::Status* status_of(const abi::ApiBase& base, abi::ErrorCode code, const char* text) noexcept {
  const abi::Slot* api = base.GetApi(1);
  if (api == nullptr) return nullptr;
  return reinterpret_cast<abi::Status* (*)(abi::ErrorCode, const char*)>(api[0])(code, text);
}

}  // namespace

LATEBIND_EXPORT abi::Status* CreateEpFactories(const char* registered_name, const abi::ApiBase* base,
                                               const abi::Logger* logger, abi::EpFactory** factories, std::size_t most,
                                               std::size_t* made) {
  *made = 0;
  try {
    if (most < 1) {
      throw latebind::provider::Failure(abi::kInvalidArgument, "Latebind: the host provides no room for a factory");
    }
    factories[0] = new Factory(*base, registered_name, logger);
    *made = 1;
    return nullptr;
  } catch (const latebind::provider::Failure& failure) {
    return status_of(*base, failure.code(), failure.what());
  } catch (const std::exception& error) {
    return status_of(*base, abi::kFail, error.what());
  } catch (...) {
    return status_of(*base, abi::kFail, "Latebind: unknown exception");
  }
}

LATEBIND_EXPORT abi::Status* ReleaseEpFactory(abi::EpFactory* factory) {
  if (factory != nullptr) static_cast<Factory*>(factory)->unregister();
  return nullptr;
}

// Writes as JSON which devices answer in the sessions of this process to `text`, which has room for `capacity` bytes,
// and returns the number of bytes needed, including the final NUL. Returns 0 if memory runs out or a device cannot be
// asked.
LATEBIND_EXPORT std::size_t LatebindAttestations(char* text, std::size_t capacity) {
  try {
    const std::string json = latebind::provider::attestations_as_json();
    if (text != nullptr && capacity > 0) {
      const std::size_t size = std::min(json.size(), capacity - 1);
      std::memcpy(text, json.data(), size);
      text[size] = '\0';
    }
    return json.size() + 1;
  } catch (...) {
    return 0;
  }
}
