// A fake plugin execution provider for ONNX Runtime, built into the ways in which one can go wrong, or right:
// FAKE_PROVIDER_CRASHES, _HANGS, _REFUSES, _HAS_NOTHING, or, without any of these, one with two devices on the
// machine's CPU and a virtual NPU, which can be listed and nothing else.
//
// The layout of the factory and the slots are those of ONNX Runtime 1.24 (onnxruntime_ep_c_api.h).
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "tests/support/export.h"

namespace fake_provider {

using Slot = void (*)();
struct Status;
struct HardwareDevice;
struct EpDevice;
struct KeyValuePairs;
struct Factory;
struct ApiBase {
  const Slot* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};

constexpr std::uint32_t kVersion = 24;
const Slot* g_api = nullptr;
const Slot* g_ep_api = nullptr;

template <class F>
F* slot(const Slot* table, std::size_t number) {
  return reinterpret_cast<F*>(table[number]);
}

Status* error(const char* text) {
  return slot<Status*(int, const char*)>(g_api, 0)(1, text);
}

[[maybe_unused]] const char* get_name(const Factory*) {
  return "FakeExecutionProvider";
}
[[maybe_unused]] const char* get_vendor(const Factory*) {
  return "Fakes, Ltd.";
}
[[maybe_unused]] const char* get_version(const Factory*) {
  return "7.8.9";
}
std::uint32_t get_vendor_id(const Factory*) {
  return 0xFA4E;
}

// Only what a variant needs is used.
[[maybe_unused]] Status* get_devices(Factory* factory, const HardwareDevice* const* devices, std::size_t count,
                                     EpDevice** out, std::size_t most, std::size_t* made) {
  *made = 0;
#ifndef FAKE_PROVIDER_HAS_NOTHING
  const auto create =
      slot<Status*(Factory*, const HardwareDevice*, const KeyValuePairs*, const KeyValuePairs*, EpDevice**)>(g_ep_api,
                                                                                                             0);
  if (count == 0 || most < 3) return error("the fake wants a processor and room for three");
  KeyValuePairs* pairs = nullptr;
  slot<void(KeyValuePairs**)>(g_api, 295)(&pairs);
  slot<void(KeyValuePairs*, const char*, const char*)>(g_api, 296)(pairs, "colour", "red, green");
  slot<void(KeyValuePairs*, const char*, const char*)>(g_api, 296)(pairs, "is_virtual", "1");
  HardwareDevice* npu = nullptr;
  Status* failure =
      slot<Status*(int, std::uint32_t, std::uint32_t, const char*, const KeyValuePairs*, HardwareDevice**)>(
          g_ep_api, 16)(2, 0xFA4E, 0x17, "Fakes, Ltd.", pairs, &npu);
  for (const HardwareDevice* hardware : {devices[0], devices[0], static_cast<const HardwareDevice*>(npu)}) {
    if (failure == nullptr) failure = create(factory, hardware, nullptr, nullptr, &out[(*made)++]);
  }
  slot<void(KeyValuePairs*)>(g_api, 300)(pairs);
  // The hardware device is left to the end of the process, as its devices refer to it.
  return failure;
#else
  (void)factory, (void)devices, (void)count, (void)out, (void)most;
  return nullptr;
#endif
}

Status* create_ep(Factory*, const HardwareDevice* const*, const KeyValuePairs* const*, std::size_t, const void*,
                  const void*, void**) {
  return error("the fake runs nothing");
}
void release_ep(Factory*, void*) {}
Status* no_data_transfer(Factory*, void** out) {
  *out = nullptr;
  return nullptr;
}
bool is_stream_aware(const Factory*) {
  return false;
}

struct Factory {
  std::uint32_t version = kVersion;
  decltype(&get_name) name = get_name;
  decltype(&get_vendor) vendor = get_vendor;
  decltype(&get_devices) devices = get_devices;
  decltype(&create_ep) create = create_ep;
  decltype(&release_ep) release = release_ep;
  decltype(&get_vendor_id) vendor_id = get_vendor_id;
  decltype(&get_version) provider_version = get_version;
  Slot validate_compatibility = nullptr;
  Slot create_allocator = nullptr;
  Slot release_allocator = nullptr;
  decltype(&no_data_transfer) create_data_transfer = no_data_transfer;
  decltype(&is_stream_aware) stream_aware = is_stream_aware;
  // Those that came later, and room for more.
  Slot rest[16] = {};
};

Factory g_factory;

}  // namespace fake_provider

using namespace fake_provider;  // NOLINT(google-build-using-namespace): the whole of this file is the fake

LB_TEST_EXPORT Status* CreateEpFactories(const char*, const ApiBase* base, const void*, Factory** factories,
                                         std::size_t most, std::size_t* made) {
  g_api = base->GetApi(kVersion);
  *made = 0;
#if defined(FAKE_PROVIDER_CRASHES)
  std::raise(SIGSEGV);
#elif defined(FAKE_PROVIDER_HANGS)
  for (;;)
    std::this_thread::sleep_for(std::chrono::hours(1));
#elif defined(FAKE_PROVIDER_REFUSES)
  return error("the fake wants another machine");
#endif
  if (g_api == nullptr) std::abort();
  g_ep_api = slot<const Slot*()>(g_api, 317)();
  if (most < 1) return error("the fake wants room for a factory");
  factories[0] = &g_factory;
  *made = 1;
  return nullptr;
}

LB_TEST_EXPORT Status* ReleaseEpFactory(Factory*) {
  return nullptr;
}
