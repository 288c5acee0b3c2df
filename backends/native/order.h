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
  bool is_first;
  std::string_view because;  // for people, with the processor that it is about
};

// The first of the table that holds: there is always one.
[[nodiscard]] const OrderRule& order_rule(const Processor& processor);

// "Intel with AVX-512: yes; …": the processors of all rules, and whether native:CPU is first there in f32.
[[nodiscard]] std::string order_table();

}  // namespace latebind::native
