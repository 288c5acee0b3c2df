// Whether native:CPU comes before the vendors' CPUs in `auto`, by what the processor has.
#pragma once

#include <string>
#include <string_view>

namespace latebind::native {

struct Processor {
  std::string name;          // platform::cpu_name()
  std::string_view kernels;  // those that are used
};

struct OrderRule {
  bool (*holds)(const Processor& processor);
  std::string_view processors;  // for people
  bool is_first_in_f32;
  bool is_first_in_bf16;     // where there is such a product
  std::string_view because;  // for people, with the processor that it is about
};

// The first of the table that holds: there is always one.
[[nodiscard]] const OrderRule& order_rule(const Processor& processor);

// "Intel with AVX-512: yes; …": the processors of all rules, and whether native:CPU is first there in a precision.
[[nodiscard]] std::string order_table(bool OrderRule::*is_first);

}  // namespace latebind::native
