// The delegate's init, as ExecuTorch calls it with what a program holds: a payload and compile specs from outside.
// There is no vendor library: all but a bundle of an embedding model, which native:CPU computes, ends in an error.
// Nothing may be a crash.
//
// Input: one byte n, n bytes of compile specs (each "key=value", divided by line breaks), then the payload.
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "hosts/executorch/delegate.h"

namespace {

namespace et = ::executorch::runtime;

constexpr std::size_t kSpecsMax = 8;

void say_nothing(et_timestamp_t /*time*/, et_pal_log_level_t /*level*/, const char* /*file*/, const char* /*function*/,
                 size_t /*line*/, const char* /*message*/, size_t length) {
  // ExecuTorch cuts at 256; ours are shorter, so that nothing is ever cut.
  if (length > 200) std::abort();
}

const bool g_silent = [] {
  setenv("LATEBIND_OPENVINO_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  return et::register_pal(et::PalImpl::create(&say_nothing, __FILE__));
}();

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const latebind::delegate::LatebindBackend backend;
  if (size == 0) return 0;
  const std::size_t text = std::min<std::size_t>(data[0], size - 1);
  const std::string_view specs(reinterpret_cast<const char*>(data + 1), text);
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (std::size_t at = 0; at < specs.size() && keys.size() < kSpecsMax;) {
    const std::string_view line = specs.substr(at, specs.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t equals = std::min(line.find('='), line.size());
    keys.emplace_back(line.substr(0, equals));
    values.emplace_back(line.substr(std::min(equals + 1, line.size())));
  }
  std::vector<et::CompileSpec> list;
  for (std::size_t i = 0; i < keys.size(); ++i)
    list.push_back({keys[i].c_str(), {values[i].data(), values[i].size()}});

  et::MemoryAllocator allocator(0, nullptr);
  et::BackendInitContext context(&allocator, nullptr, "forward");
  // A separate allocation, so that a read beyond its end is found.
  const std::vector<std::uint8_t> bytes(data + 1 + text, data + size);
  et::FreeableBuffer payload(bytes.data(), bytes.size(), nullptr);
  const auto handle = backend.init(context, &payload, {list.data(), list.size()});
  if (handle.ok()) backend.destroy(*handle);
  return 0;
}
