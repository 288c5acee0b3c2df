// What lb_last_error() says on this thread, for tests.
#pragma once

#include <string>

#include "latebind/latebind.h"

namespace latebind::test {

inline std::string last_message() {
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  return error.message;
}

}  // namespace latebind::test
