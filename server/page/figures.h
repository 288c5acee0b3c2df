// Reading the status without trust in its shape, and its numbers as people read them. scripts/figures.js words them in
// the same way. Pure functions; "–" stands for what is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace latebind::server {

// The member, or null where there is none, or where `object` is no object.
[[nodiscard]] const core::Json& member(const core::Json& object, std::string_view name);
// The members that are objects; none where it is no array.
[[nodiscard]] std::vector<const core::Json*> objects_of(const core::Json& list);
[[nodiscard]] std::string text_of(const core::Json& value);  // "" for anything but a text
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

// Those that are not empty, with a dot between.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);

}  // namespace latebind::server
