// TaskNames: what a model has low-rank parts for, of which each call chooses one.
//
// A value; immutable in use.
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
  // The model has no use without a task: its files declare none as the default.
  bool is_needed = false;

  // Returns the number of the task of a call, 0 for none. Without a name, texts with a role get the task whose name
  // says so: "retrieval.query" or "query", "retrieval.passage", "passage" or "document", else "retrieval". Returns
  // kInvalidArgument for a name that the model does not have, and if a task is needed but none was chosen.
  [[nodiscard]] core::Result<std::uint32_t> choose(std::optional<std::string_view> name, TextRole role) const;
};

}  // namespace latebind::embedding
