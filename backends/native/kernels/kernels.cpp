#include "backends/native/kernels/kernels.h"

#include <algorithm>
#include <vector>

#include "backends/native/kernels/sets.h"
#include "core/platform/system_info.h"

namespace latebind::native {
namespace {

[[maybe_unused]] bool has_feature(std::string_view name) {
  return std::ranges::count(platform::cpu_features(), name) != 0;
}

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
bool has_avx2_vnni() {
  // Not every compiler's function knows it.
  return has_avx2() && has_feature("avx_vnni");
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
bool has_avx512_bf16() {
  return has_avx512_vnni() && __builtin_cpu_supports("avx512bf16") != 0;
}
#elif defined(__aarch64__)
bool has_neon_dotprod() {
  return has_feature("dotprod");
}
bool has_neon_bf16() {
  return has_neon_dotprod() && has_feature("bf16");
}
#endif

bool has_portable() {
  return true;
}

struct Set {
  Kernels kernels;
  bool (*is_supported)() = nullptr;
};

// The set and a product in int8, beside which attention is computed as beside `attention`.
Kernels with_int8(std::string_view name, Kernels set, Product product, const Product& attention) {
  set.name = name;
  set.int8 = product;
  set.int8.attend = attention.attend;
  set.int8.attention_scratch = attention.attention_scratch;
  return set;
}
// The set and both.
Kernels with_bf16(std::string_view name, Kernels set, const Product& bf16, const Product& int8) {
  set.bf16 = bf16;
  return with_int8(name, set, int8, bf16);
}

std::span<const Set> sets() {
  static const Set kSets[] = {
#if defined(__x86_64__)
    {with_bf16("avx512_bf16", kAvx512Kernels, kAvx512BF16, kAvx512VnniInt8), has_avx512_bf16},
    {with_int8("avx512_vnni", kAvx512Kernels, kAvx512VnniInt8, kAvx512Kernels.f32), has_avx512_vnni},
    {kAvx512Kernels, has_avx512},
    {with_int8("avx2_vnni", kAvx2Kernels, kAvx2VnniInt8, kAvx2Kernels.f32), has_avx2_vnni},
    {kAvx2Kernels, has_avx2},
#elif defined(__aarch64__)
    {with_bf16("neon_bf16", kPortableKernels, kNeonBF16, kNeonDotprodInt8), has_neon_bf16},
    {with_int8("neon_dotprod", kPortableKernels, kNeonDotprodInt8, kPortableKernels.f32), has_neon_dotprod},
#endif
    {kPortableKernels, has_portable},
  };
  return kSets;
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> kAll = [] {
    std::vector<const Kernels*> all;
    for (const Set& set : sets())
      all.push_back(&set.kernels);
    return all;
  }();
  return kAll;
}

bool can_run(const Kernels& kernels) {
  return std::ranges::any_of(sets(), [&](const Set& set) { return &set.kernels == &kernels && set.is_supported(); });
}

}  // namespace latebind::native
