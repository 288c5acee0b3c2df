#include "core/backend/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace latebind::core {

Status Registry::add(std::shared_ptr<Backend> backend) {
  if (!backend) return Status(StatusCode::kInvalidArgument, "the backend to register is null");
  if (find(backend->name())) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a backend named '{}' is already registered", backend->name()));
  }
  backends_.push_back(std::move(backend));
  return {};
}

std::shared_ptr<Backend> Registry::find(std::string_view name) const {
  const auto found = std::ranges::find_if(backends_, [&](const auto& backend) { return backend->name() == name; });
  return found == backends_.end() ? nullptr : *found;
}

}  // namespace latebind::core
