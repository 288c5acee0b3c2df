// cpu_name() and cpu_features() of system_info.h for x86_64, on every system.
#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/platform/system_info.h"

namespace latebind::platform {
namespace {

struct Leaf {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

// All zeros if the CPU has no such leaf.
Leaf cpuid(unsigned leaf, unsigned subleaf = 0) {
  Leaf answer;
  if (__get_cpuid_count(leaf, subleaf, &answer.eax, &answer.ebx, &answer.ecx, &answer.edx) == 0) {
    return Leaf();
  }
  return answer;
}

bool bit(unsigned word, unsigned number) {
  return ((word >> number) & 1U) != 0;
}

// Returns the register files that the operating system saves (XCR0). An instruction set cannot be used if its registers
// are not saved.
unsigned saved_registers() {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr unsigned kAvxRegisters = 0x6;
constexpr unsigned kAvx512Registers = 0xe6;
constexpr unsigned kTileRegisters = 0x60000;

}  // namespace

std::string cpu_name() {
  constexpr unsigned kFirst = 0x80000002U;
  std::array<char, 48> brand{};
  for (unsigned part = 0; part < 3; ++part) {
    const Leaf leaf = cpuid(kFirst + part);
    const std::array<unsigned, 4> words{leaf.eax, leaf.ebx, leaf.ecx, leaf.edx};
    std::memcpy(brand.data() + part * sizeof(words), words.data(), sizeof(words));
  }
  const std::string text(brand.begin(), std::find(brand.begin(), brand.end(), '\0'));
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> cpu_features() {
  const Leaf basic = cpuid(1);
  const Leaf extended = cpuid(7, 0);
  const Leaf more = extended.eax >= 1 ? cpuid(7, 1) : Leaf();
  const unsigned saved = bit(basic.ecx, 27) ? saved_registers() : 0;
  const bool avx = (saved & kAvxRegisters) == kAvxRegisters;
  const bool avx512 = (saved & kAvx512Registers) == kAvx512Registers;
  const bool tiles = (saved & kTileRegisters) == kTileRegisters;

  std::vector<std::string> features;
  const auto add = [&features](bool present, const char* name) {
    if (present) features.emplace_back(name);
  };
  add(bit(basic.ecx, 20), "sse4_2");
  add(avx && bit(basic.ecx, 28), "avx");
  add(avx && bit(basic.ecx, 29), "f16c");
  add(avx && bit(basic.ecx, 12), "fma");
  add(avx && bit(extended.ebx, 5), "avx2");
  add(avx && bit(more.eax, 4), "avx_vnni");
  add(avx512 && bit(extended.ebx, 16), "avx512f");
  add(avx512 && bit(extended.ebx, 17), "avx512dq");
  add(avx512 && bit(extended.ebx, 30), "avx512bw");
  add(avx512 && bit(extended.ebx, 31), "avx512vl");
  add(avx512 && bit(extended.ecx, 11), "avx512_vnni");
  add(avx512 && bit(more.eax, 5), "avx512_bf16");
  add(avx512 && bit(extended.edx, 23), "avx512_fp16");
  add(tiles && bit(extended.edx, 24), "amx_tile");
  add(tiles && bit(extended.edx, 25), "amx_int8");
  add(tiles && bit(extended.edx, 22), "amx_bf16");
  add(tiles && bit(more.eax, 21), "amx_fp16");
  return features;
}

}  // namespace latebind::platform
