// Reads the status without relying on its structure and formats its numbers for people, as scripts/figures.js does.
// Pure functions. A missing value is shown as "–".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"

namespace latebind::server {

// Returns the member, or null if it is missing or `object` is not an object.
[[nodiscard]] const core::Json& member(const core::Json& object, std::string_view name);
// Returns the elements that are objects; empty if `list` is not an array.
[[nodiscard]] std::vector<const core::Json*> objects_of(const core::Json& list);
[[nodiscard]] std::string text_of(const core::Json& value);  // "" unless it is a string
[[nodiscard]] bool is_true(const core::Json& value);
[[nodiscard]] std::optional<double> number_of(const core::Json& value);

[[nodiscard]] std::string count_words(std::optional<double> number);                     // "12,345"
[[nodiscard]] std::string counted(std::optional<double> number, std::string_view noun);  // "1 text", "12 texts"
[[nodiscard]] std::string rate_words(std::optional<double> number);                      // "8.4", "1,240"
[[nodiscard]] std::string ms_words(std::optional<double> ms);                            // "8.4 ms", "12.5 s"
[[nodiscard]] std::string bytes_words(std::optional<double> bytes);                      // "312 MiB"
[[nodiscard]] std::string duration_words(std::optional<double> seconds);                 // "3 h 12 min"
[[nodiscard]] std::string time_words(std::string_view iso);                              // "2026-01-31 12:05 UTC"
[[nodiscard]] std::string percent_words(double part, double whole);                      // "19 %"

// Joins the parts that are not empty with a dot.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);

}  // namespace latebind::server
