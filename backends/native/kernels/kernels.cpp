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

// Checks the instructions that the kernels use, which are fewer than those the compiler may use (CMakeLists.txt): the
// kernels contain no cryptography. Asks both the processor and the system, which must save the registers.
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
  // Some compilers' builtin does not know this feature.
  return has_avx2() && has_feature("avx_vnni");
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
bool has_avx512_bf16() {
  return has_avx512_vnni() && __builtin_cpu_supports("avx512bf16") != 0;
}
bool has_avx512_fp16() {
  // Some compilers' builtin does not know this feature.
  return has_avx512_bf16() && has_feature("avx512_fp16");
}
#elif defined(__aarch64__)
bool has_neon_dotprod() {
  return has_feature("dotprod");
}
bool has_neon_fp16() {
  return has_neon_dotprod() && has_feature("fp16");
}
bool has_neon_bf16() {
  return has_neon_fp16() && has_feature("bf16");
}
bool has_neon_i8mm() {
  return has_neon_bf16() && has_feature("i8mm");
}
#endif

bool has_portable() {
  return true;
}

struct Set {
  Kernels kernels;
  bool (*is_supported)() = nullptr;
};

// Adds a product in int8 to `kernels`; its attention is that of `attention`.
Kernels with_int8(std::string_view name, Kernels kernels, Product product, const Product& attention) {
  kernels.name = name;
  kernels.int8 = product;
  kernels.int8.attend = attention.attend;
  kernels.int8.attention_scratch = attention.attention_scratch;
  kernels.int8.pack_keys = attention.pack_keys;
  kernels.int8.packed_keys = attention.packed_keys;
  return kernels;
}
// Adds products in bf16 and in int8.
Kernels with_bf16(std::string_view name, Kernels kernels, const Product& bf16, const Product& int8) {
  kernels.bf16 = bf16;
  return with_int8(name, kernels, int8, bf16);
}
Kernels with_f16(std::string_view name, Kernels kernels, const Product& f16) {
  kernels.name = name;
  kernels.f16 = f16;
  return kernels;
}

std::span<const Set> sets() {
#if defined(__x86_64__)
  static const Kernels kBF16 = with_bf16("avx512_bf16", kAvx512Kernels, kAvx512BF16, kAvx512VnniInt8);
  static const Set kSets[] = {
      {with_f16("avx512_fp16", kBF16, kAvx512FP16), has_avx512_fp16},
      {kBF16, has_avx512_bf16},
      {with_int8("avx512_vnni", kAvx512Kernels, kAvx512VnniInt8, kAvx512Kernels.f32), has_avx512_vnni},
      {kAvx512Kernels, has_avx512},
      {with_int8("avx2_vnni", kAvx2Kernels, kAvx2VnniInt8, kAvx2Kernels.f32), has_avx2_vnni},
      {kAvx2Kernels, has_avx2},
      {kPortableKernels, has_portable},
  };
#elif defined(__aarch64__)
  static const Kernels kDotprod = with_int8("neon_dotprod", kPortableKernels, kNeonDotprodInt8, kPortableKernels.f32);
  static const Kernels kFP16 = with_f16("neon_fp16", kDotprod, kNeonFP16);
  static const Set kSets[] = {
      {with_bf16("neon_i8mm", kFP16, kNeonI8mmBF16, kNeonI8mmInt8), has_neon_i8mm},
      {with_bf16("neon_bf16", kFP16, kNeonBF16, kNeonDotprodInt8), has_neon_bf16},
      {kFP16, has_neon_fp16},
      {kDotprod, has_neon_dotprod},
      {kPortableKernels, has_portable},
  };
#else
  static const Set kSets[] = {{kPortableKernels, has_portable}};
#endif
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
