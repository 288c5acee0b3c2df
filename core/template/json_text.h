// Writes a value as JSON in the format of Python's json.dumps(). Call it from the thread of the run.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

struct JsonForm {
  bool ascii = false;   // escapes all other characters
  bool sorted = false;  // sorts the members of dictionaries by key
  // If set, every item is on a separate line, preceded by this text once for each level.
  std::optional<std::string> indent = std::nullopt;
  std::string between_items = ", ";
  std::string after_key = ": ";
};

// Returns kInvalidModel for a kind of value that JSON does not have, kUnsupported for sorted keys that are not texts,
// and kTextTooLong beyond the run's limits.
[[nodiscard]] core::Result<std::string> json_text(Run& run, const Value& value, const JsonForm& form);

}  // namespace latebind::templates
