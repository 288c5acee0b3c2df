// A value as JSON, in the form that Python's json.dumps() gives it. A pure function of a run.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

struct JsonForm {
  bool ascii = false;   // other characters are escaped
  bool sorted = false;  // the members of a dictionary, by their keys
  // Everything on a line of its own, with this before it for each level.
  std::optional<std::string> indent = std::nullopt;
  std::string between_items = ", ";
  std::string after_key = ": ";
};

// Returns kInvalidModel for a kind of value that JSON does not have.
[[nodiscard]] core::Result<std::string> json_text(Run& run, const Value& value, const JsonForm& form);

}  // namespace latebind::templates
