// Properties of the machine and this process, for reports and never for correctness. All functions may be called from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace latebind::platform {

// Returns the processor's name ("AMD EPYC …"), or an empty text when the system does not report it.
[[nodiscard]] std::string cpu_name();

// Returns the instruction sets of this CPU that matter for inference: "avx2", "avx512f", "avx512_bf16", "avx512_vnni",
// "amx_bf16", "neon", "sve" …
[[nodiscard]] std::vector<std::string> cpu_features();

// Returns the number of processors that this process may use (its affinity, and the quota of its control groups), at
// least 1.
[[nodiscard]] unsigned usable_processors();

// Returns the largest resident memory of this process so far, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t peak_resident_bytes();

// Returns the current resident memory of this process, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t resident_bytes();

// Returns the memory that programs may still take before the machine or this process's group swaps, in bytes; 0 when
// unknown.
[[nodiscard]] std::uint64_t available_memory_bytes();

// Returns "linux-x86_64", "windows-x86_64" or "linux-aarch64".
[[nodiscard]] std::string platform_name();

}  // namespace latebind::platform
