// The methods of texts, in constant tables, and the operations that methods share with filters. An operation first
// charges the run for its work. Any thread may read the tables; an operation belongs to the thread of its run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/result.h"
#include "core/template/python_text.h"
#include "core/template/run.h"

namespace latebind::templates {

[[nodiscard]] std::span<const Function> text_methods();
// Methods of Python's str that Latebind does not support.
[[nodiscard]] std::span<const std::string_view> refused_text_methods();

// Return the text without the characters of `set`, or white space, at its ends; with parts replaced, at most `most`
// times; and in another case. They return the errors of the run's limits, and those of in_case().
struct Replacement {
  std::string_view old_part;
  std::string_view new_part;
};
[[nodiscard]] core::Result<Value> stripped_text(Run& run, std::string_view text, Ends ends,
                                                std::optional<std::string_view> set);
[[nodiscard]] core::Result<Value> replaced_text(Run& run, std::string_view text, const Replacement& parts,
                                                std::size_t most);
[[nodiscard]] core::Result<Value> text_in_case(Run& run, std::string_view text, Case wanted);

}  // namespace latebind::templates
