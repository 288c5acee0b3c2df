// Text as Python's str treats it: code points, white space, slices, and how values are written.
//
// Templates are made for Python, so what they give depends on it. Texts are UTF-8 that was checked. Pure functions, for
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/template/value.h"

namespace latebind::templates {

// Whether str.isspace() holds for the code point.
[[nodiscard]] bool is_space(char32_t c);
// The number of code points, and each of them as text.
[[nodiscard]] std::size_t count_code_points(std::string_view text);
[[nodiscard]] std::vector<std::string_view> code_points_of(std::string_view text);

// Text without the characters at its ends that are in `set`; white space without a set.
enum class Ends : std::uint8_t { kBoth, kLeft, kRight };
[[nodiscard]] std::string_view strip(std::string_view text, Ends ends = Ends::kBoth,
                                     std::optional<std::string_view> set = std::nullopt);
// The text's parts between white space, and between a separator that is not empty, at most `most` + 1 of them.
[[nodiscard]] std::vector<std::string_view> split_at_space(std::string_view text, std::size_t most, bool from_right);
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                                     std::size_t most, bool from_right);
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends = false);
// Replaces at most `most` occurrences.
[[nodiscard]] std::string replace(std::string_view text, std::string_view old_part, std::string_view new_part,
                                  std::size_t most);

// The text in another case. Letters of other scripts than ASCII are refused, unless their script has no cases.
enum class Case : std::uint8_t { kLower, kUpper, kTitle, kCapitalized };
[[nodiscard]] core::Result<std::string> in_case(std::string_view text, Case wanted);

// The indices of a slice of `size` items: as in Python, absent numbers depend on the sign of the step, which is not 0.
struct SliceBounds {
  std::optional<std::int64_t> begin{};
  std::optional<std::int64_t> end{};
  std::int64_t step = 1;
};
[[nodiscard]] std::vector<std::size_t> slice_indices(const SliceBounds& slice, std::size_t size);

// The text that a float has in Python.
[[nodiscard]] std::string text_of(double number);
// str() and repr() of a value. Returns kUnsupported for kinds whose text is an address or a class.
[[nodiscard]] core::Result<std::string> text_of(const Value& value);
[[nodiscard]] core::Status append_repr(const Value& value, std::string& out);

}  // namespace latebind::templates
