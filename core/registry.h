// Registry: the backends of this process, by name, in order of preference.
//
// Filled once by its owner (app/backends lists them); reading is thread-safe afterwards.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/backend.h"

namespace latebind::core {

class Registry {
 public:
  // The first one added is preferred among equals. Rejects duplicate names.
  [[nodiscard]] Status add(std::shared_ptr<Backend> backend);

  // Null when there is none of that name.
  [[nodiscard]] std::shared_ptr<Backend> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::shared_ptr<Backend>>& all() const { return backends_; }

 private:
  std::vector<std::shared_ptr<Backend>> backends_;
};

}  // namespace latebind::core
