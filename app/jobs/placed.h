// The result of a job that writes one file or folder.
#pragma once

#include "core/status.h"

namespace latebind::app {

struct Placed {
  core::Status failure{};
  bool options_are_wrong = false;  // the output is to blame
};

}  // namespace latebind::app
