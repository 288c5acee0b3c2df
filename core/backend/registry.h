// Registry: the backends of this process, by name, in order of preference.
//
// Its owner fills it once (app/backends has the list). After that, any thread may read it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"

namespace latebind::core {

class Registry {
 public:
  // Adds a backend. Among equals, the one added first is preferred. kInvalidArgument for null or a name that is taken.
  [[nodiscard]] Status add(std::shared_ptr<Backend> backend);

  // Returns null when there is no backend of that name.
  [[nodiscard]] std::shared_ptr<Backend> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::shared_ptr<Backend>>& all() const { return backends_; }

 private:
  std::vector<std::shared_ptr<Backend>> backends_;
};

}  // namespace latebind::core
