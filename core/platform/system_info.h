// What the machine and this process are like: for reports, never for correctness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace latebind::platform {

// "AMD EPYC …", or empty when the system does not report it.
[[nodiscard]] std::string cpu_name();

// Instruction sets that matter for inference and that this CPU has: "avx2", "avx512f", "avx512_bf16", "avx512_vnni",
// "amx_bf16", "neon", "sve" …
[[nodiscard]] std::vector<std::string> cpu_features();

// Processors this process may use (its affinity, and the quota of its control groups), at least 1.
[[nodiscard]] unsigned usable_processors();

// Largest resident memory of this process so far, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t peak_resident_bytes();

// Current resident memory of this process, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t resident_bytes();

// Memory that programs may still take without the machine or this process's group swapping, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t available_memory_bytes();

// "linux-x86_64", "windows-x86_64", "linux-aarch64".
[[nodiscard]] std::string platform_name();

}  // namespace latebind::platform
