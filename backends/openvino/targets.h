// Intel's NPUs as compile targets: virtual devices "NPU.4000", which need not be in this machine.
//
// The compiler is a library of Intel's beside OpenVINO's, where the distribution includes it. Constant data and
// functions that only look at files; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/device.h"
#include "core/result.h"
#include "core/vendor_search.h"

namespace latebind::openvino {

struct NpuTarget {
  std::string_view architecture;  // "4000", which is also the vendor's name for it
  std::string_view full_name;     // "Intel NPU 4000 (Lunar Lake)"
};

[[nodiscard]] std::span<const NpuTarget> npu_targets();

// "NPU.4000": its target. Null for names of another form ("NPU", "GPU.1"); kDeviceNotFound, listing the known ones,
// when there is no such architecture.
[[nodiscard]] core::Result<const NpuTarget*> find_target(std::string_view device_name);

// "NPU.4000"
[[nodiscard]] std::string device_name(const NpuTarget& target);

// "4000" for the vendor's "4000", "NPU4000", "NPU.4000", "VPUX4000"; other words stay as they are.
[[nodiscard]] std::string npu_architecture(std::string_view vendor_word);
// The same for a GPU, which the vendor describes as "GPU: vendor=0x8086 arch=v12.55.8": "v12.55.8". Unchanged when
// there is no such part.
[[nodiscard]] std::string gpu_architecture(std::string_view vendor_text);

// The NPU compiler's library beside `library_file` (both UTF-8); empty when there is none.
[[nodiscard]] std::string npu_compiler_file(const std::string& library_file, core::System system,
                                            const core::FileSystem& files = core::FileSystem::real());
// Which library is missing without it, and where to get it: one line.
[[nodiscard]] std::string missing_npu_compiler(core::System system);

// The virtual device. With an empty `compiler_file` its metadata says what is missing: `missing`.
[[nodiscard]] core::Device virtual_device(const NpuTarget& target, const std::string& compiler_file,
                                          const std::string& missing, const std::string& runtime_version);

}  // namespace latebind::openvino
