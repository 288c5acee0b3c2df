#include "backends/native/kernels/kernels.h"

#include "backends/native/kernels/sets.h"

namespace latebind::native {
namespace {

// Of what the compiler was told for each set (CMakeLists.txt), that of which the kernels make use: there is no
// cryptography in them, and nothing in f16. Asks the processor, and the system for the registers.
#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
bool has_avx512_bf16() {
  return has_avx512_vnni() && __builtin_cpu_supports("avx512bf16") != 0;
}
constexpr const Kernels* kSets[] = {&kAvx512Bf16Kernels, &kAvx512VnniKernels, &kAvx512Kernels, &kAvx2Kernels,
                                    &kPortableKernels};
#else
constexpr const Kernels* kSets[] = {&kPortableKernels};
#endif

}  // namespace

std::span<const Kernels* const> all_kernels() {
  return kSets;
}

bool can_run(const Kernels& kernels) {
#if defined(__x86_64__)
  if (&kernels == &kAvx512Bf16Kernels) return has_avx512_bf16();
  if (&kernels == &kAvx512VnniKernels) return has_avx512_vnni();
  if (&kernels == &kAvx512Kernels) return has_avx512();
  if (&kernels == &kAvx2Kernels) return has_avx2();
#endif
  return &kernels == &kPortableKernels;
}

}  // namespace latebind::native
