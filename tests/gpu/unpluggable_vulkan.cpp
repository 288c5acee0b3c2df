// A Vulkan loader whose GPU can be unplugged: libvulkan.so.1, which passes everything on to the real one.
//
// While the file that UNPLUGGED names is there, work that is submitted fails as on a GPU that is gone
// (VK_ERROR_DEVICE_LOST), and no GPU is found. REAL_VULKAN: the full path of the real loader. The parts of Vulkan's
// interface that are needed are declared here. Any thread.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using Function = void (*)();
using GetProcAddr = Function (*)(void* of, const char* name);
using QueueSubmit = std::int32_t (*)(void* queue, std::uint32_t count, const void* submits, std::uint64_t fence);
using EnumeratePhysicalDevices = std::int32_t (*)(void* instance, std::uint32_t* count, void** devices);
constexpr std::int32_t kDeviceLost = -4;

GetProcAddr real_instance_proc = nullptr;
GetProcAddr real_device_proc = nullptr;
QueueSubmit real_queue_submit = nullptr;
EnumeratePhysicalDevices real_enumerate = nullptr;

bool is_unplugged() {
  const char* const file = std::getenv("UNPLUGGED");
  return file != nullptr && access(file, F_OK) == 0;
}

std::int32_t queue_submit(void* queue, std::uint32_t count, const void* submits, std::uint64_t fence) {
  return is_unplugged() ? kDeviceLost : real_queue_submit(queue, count, submits, fence);
}

std::int32_t enumerate(void* instance, std::uint32_t* count, void** devices) {
  if (!is_unplugged()) return real_enumerate(instance, count, devices);
  *count = 0;
  return 0;
}

// Ours in the place of `found`, which it calls.
template <class Called>
Function replaced(Called& real, Called ours, Function found) {
  if (found == nullptr) return nullptr;
  real = reinterpret_cast<Called>(found);
  return reinterpret_cast<Function>(ours);
}

Function device_proc(void* device, const char* name) {
  const Function found = real_device_proc(device, name);
  return std::string_view(name) == "vkQueueSubmit" ? replaced(real_queue_submit, queue_submit, found) : found;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Function vkGetInstanceProcAddr(void* instance, const char* name) {
  if (real_instance_proc == nullptr) {
    void* const real = dlopen(std::getenv("REAL_VULKAN"), RTLD_NOW | RTLD_LOCAL);
    if (real == nullptr) return nullptr;
    real_instance_proc = reinterpret_cast<GetProcAddr>(dlsym(real, "vkGetInstanceProcAddr"));
  }
  const Function found = real_instance_proc(instance, name);
  const std::string_view wanted = name;
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<Function>(&vkGetInstanceProcAddr);
  if (wanted == "vkGetDeviceProcAddr") return replaced(real_device_proc, device_proc, found);
  if (wanted == "vkQueueSubmit") return replaced(real_queue_submit, queue_submit, found);
  if (wanted == "vkEnumeratePhysicalDevices") return replaced(real_enumerate, enumerate, found);
  return found;
}
