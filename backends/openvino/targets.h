// Intel's NPUs as compile targets: virtual devices such as "NPU.4000", which need not be in this machine.
//
// The compiler is one of Intel's libraries, beside OpenVINO's if the distribution includes it. Constant data, and
// functions that only look at files; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/backend/device.h"
#include "core/result.h"
#include "core/vendor/vendor_search.h"

namespace latebind::openvino {

struct NpuTarget {
  std::string_view architecture;  // "4000", which is also the vendor's name for it
  std::string_view full_name;     // "Intel NPU 4000 (Lunar Lake)"
};

[[nodiscard]] std::span<const NpuTarget> npu_targets();

// The target of "NPU.4000". Null for names of another form ("NPU", "GPU.1"); kDeviceNotFound, listing the known
// architectures, for an unknown one.
[[nodiscard]] core::Result<const NpuTarget*> find_target(std::string_view device_name);

// "NPU.4000"
[[nodiscard]] std::string device_name(const NpuTarget& target);

// "4000" for the vendor's "4000", "NPU4000", "NPU.4000" and "VPUX4000". Other words are returned unchanged.
[[nodiscard]] std::string npu_architecture(std::string_view vendor_word);
// "v12.55.8" for a GPU that the vendor describes as "GPU: vendor=0x8086 arch=v12.55.8". Other texts are returned
// unchanged.
[[nodiscard]] std::string gpu_architecture(std::string_view vendor_text);

// The NPU compiler's library beside `library_file` (both UTF-8); empty if it is missing.
[[nodiscard]] std::string npu_compiler_file(const std::string& library_file, core::System system,
                                            const core::FileSystem& files = core::FileSystem::real());
// The missing library, and where to get it, in one line.
[[nodiscard]] std::string missing_npu_compiler(core::System system);

// The virtual device. If `compiler_file` is empty, its traits contain `missing`.
[[nodiscard]] core::Device virtual_device(const NpuTarget& target, const std::string& compiler_file,
                                          const std::string& missing, const std::string& runtime_version);

}  // namespace latebind::openvino
