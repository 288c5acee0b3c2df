// native: computes text-embedding models on this machine's processors, without any vendor library.
//
// It has one device, native:CPU, which is always available, and runs models that Latebind builds as graphs. It refuses
// a graph with an operator that it does not compute, and names the operator, so that placement tries the next device.
// See docs/native.md. The backend may be used from any thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"

namespace latebind::native {

inline constexpr const char* kBackendName = "native";

inline constexpr std::array<std::string_view, 11> kInstructionSets{
    "avx512_fp16", "avx512_bf16", "avx512_vnni", "avx512",       "avx2_vnni", "avx2",
    "neon_i8mm",   "neon_bf16",   "neon_fp16",   "neon_dotprod", "portable"};

inline constexpr std::array kSettings{core::BackendSetting{
    .key = "native.isa",
    .environment = "LATEBIND_NATIVE_ISA",
    .flag = "",
    .value = "NAME",
    .help = "Instruction set of native:CPU: avx512_fp16, avx512_bf16, avx512_vnni, avx512, avx2_vnni, avx2, neon_i8mm, "
            "neon_bf16, neon_fp16, neon_dotprod or portable. Empty: the fastest one that the processor supports.",
    .words = kInstructionSets,
}};

struct BackendOptions {
  // One of kInstructionSets. If empty, the environment variable decides, and otherwise the fastest set is used.
  std::string isa{};
  // The number of processors to use; 0: those that this process may use.
  unsigned processors = 0;
};
// Creates the backend without examining the processor.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options);

// Creates the backend from the settings.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

}  // namespace latebind::native
