// Run::Level: adds one level of nesting while it exists. Only the sources of Run include this header.
#pragma once

#include <fmt/format.h>

#include "core/template/run.h"

namespace latebind::templates {

class Run::Level {
 public:
  explicit Level(Run& run) : run_(run) { ++run_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --run_.depth_; }

  [[nodiscard]] core::Status check() const {
    if (run_.depth_ <= run_.limits_.depth) return {};
    return {core::StatusCode::kTextTooLong,
            fmt::format("the template is nested deeper than {} levels", run_.limits_.depth)};
  }

 private:
  Run& run_;
};

}  // namespace latebind::templates
