#include "backends/native/order.h"

#include <algorithm>

namespace latebind::native {
namespace {

// docs/native.md has the figures. Processors that were not measured use the vendors first.
constexpr OrderRule kRules[] = {
    {[](const Processor& p) { return p.name.starts_with("Intel") && p.kernels.starts_with("avx512"); },
     "Intel with AVX-512", true, false,
     "on Intel with AVX-512 it is faster in f32; only it has int8 and fast; in bf16 vendors use AMX"},
    {[](const Processor& p) { return p.name.starts_with("AMD") && p.kernels.starts_with("avx512"); },
     "AMD with AVX-512", true, true, "on AMD with AVX-512 it is faster in f32 and bf16; only it has int8 and fast"},
    {[](const Processor& p) { return p.name.starts_with("AMD") && p.kernels.starts_with("avx2"); },
     "AMD with AVX2 alone", false, false, "only it has fast; with many texts OpenVINO is slightly faster in f32"},
    {[](const Processor&) { return true; }, "any other", false, false,
     "only it has int8 and fast; f32 was not compared on such a processor"},
};

}  // namespace

const OrderRule& order_rule(const Processor& processor) {
  return *std::ranges::find_if(kRules, [&](const OrderRule& rule) { return rule.holds(processor); });
}

std::string order_table(bool OrderRule::*is_first) {
  std::string table;
  for (const OrderRule& rule : kRules) {
    if (!table.empty()) table += "; ";
    table.append(rule.processors).append(rule.*is_first ? ": yes" : ": no");
  }
  return table;
}

}  // namespace latebind::native
