// Decides by processor whether native:CPU precedes the vendors' CPUs in `auto`. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace latebind::native {

struct Processor {
  std::string name;          // platform::cpu_name()
  std::string_view kernels;  // name of the kernels in use
};

struct OrderRule {
  bool (*holds)(const Processor& processor);
  std::string_view processors;  // for people
  bool is_first_in_f32;
  bool is_first_in_bf16;     // if it has such a product
  std::string_view because;  // the reason, for people, naming the processor it is about
};

// The first rule that holds; the last rule always does.
[[nodiscard]] const OrderRule& order_rule(const Processor& processor);

// For all rules, whether native:CPU is first in a precision: "Intel with AVX-512: yes; …".
[[nodiscard]] std::string order_table(bool OrderRule::*is_first);

}  // namespace latebind::native
