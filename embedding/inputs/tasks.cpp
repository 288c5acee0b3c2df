#include "embedding/inputs/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

// The names of tasks for a role, by preference.
constexpr std::array<std::string_view, 3> kQueryTasks{"retrieval.query", "query", "retrieval"};
constexpr std::array<std::string_view, 4> kDocumentTasks{"retrieval.passage", "passage", "document", "retrieval"};
constexpr std::size_t kShownTaskBytes = 60;

std::uint32_t number_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? 0 : static_cast<std::uint32_t>(found - names.begin()) + 1;
}

std::uint32_t number_for(const std::vector<std::string>& names, TextRole role) {
  const auto first_of = [&](const auto& wanted) {
    for (const std::string_view name : wanted) {
      if (const std::uint32_t number = number_of(names, name); number > 0) return number;
    }
    return std::uint32_t{0};
  };
  if (role == TextRole::kQuery) return first_of(kQueryTasks);
  return role == TextRole::kDocument ? first_of(kDocumentTasks) : 0;
}

}  // namespace

core::Result<std::uint32_t> TaskNames::choose(std::optional<std::string_view> name, TextRole role) const {
  const auto listed = [&] {
    std::string all;
    for (const std::string& one : names)
      all += (all.empty() ? "" : ", ") + core::printable(one);
    return all.empty() ? std::string("none") : all;
  };
  if (name) {
    if (const std::uint32_t number = number_of(names, *name); number > 0) return number;
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the model has no task {}; it has: {}", core::quoted(*name, kShownTaskBytes), listed()));
  }
  const std::uint32_t number = number_for(names, role);
  if (number == 0 && is_needed) {
    return Status(StatusCode::kInvalidArgument, fmt::format("the model needs a task; it has: {}", listed()));
  }
  return number;
}

}  // namespace latebind::embedding
