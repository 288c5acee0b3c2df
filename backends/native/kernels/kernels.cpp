#include "backends/native/kernels/kernels.h"

#include <algorithm>
#include <vector>

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
// `attention` is what computes it beside the product.
Product with_attention_of(const Product& attention, Product product) {
  product.attend = attention.attend;
  product.attention_scratch = attention.attention_scratch;
  return product;
}

Kernels make_avx512_vnni() {
  Kernels set = kAvx512Kernels;
  set.name = "avx512_vnni";
  set.int8 = with_attention_of(set.f32, kAvx512VnniInt8);
  return set;
}
Kernels make_avx512_bf16() {
  Kernels set = kAvx512Kernels;
  set.name = "avx512_bf16";
  set.bf16 = kAvx512BF16;
  set.int8 = with_attention_of(set.bf16, kAvx512VnniInt8);
  return set;
}
#endif

bool has_portable() {
  return true;
}

struct Set {
  Kernels kernels;
  bool (*is_supported)();
};

std::span<const Set> sets() {
  static const Set kSets[] = {
#if defined(__x86_64__)
    {make_avx512_bf16(), has_avx512_bf16},
    {make_avx512_vnni(), has_avx512_vnni},
    {kAvx512Kernels, has_avx512},
    {kAvx2Kernels, has_avx2},
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
