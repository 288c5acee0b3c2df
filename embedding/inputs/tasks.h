// TaskNames: the tasks for which a model has low-rank parts. Each call chooses one of them.
//
// A value; any thread may read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

struct TaskNames {
  std::vector<std::string> names{};  // in the order of their numbers, from 1
  // True if every call needs a task, because the model's files declare no default.
  bool is_needed = false;

  // Returns the number of a call's task; 0 for none. Without a name, texts with a role get the first of these tasks
  // that the model has, by role: "retrieval.query" or "query", "retrieval.passage", "passage" or "document", else
  // "retrieval". Returns kInvalidArgument for a name that the model does not have, and if a task is needed but none was
  // chosen.
  [[nodiscard]] core::Result<std::uint32_t> choose(std::optional<std::string_view> name, TextRole role) const;
};

}  // namespace latebind::embedding
