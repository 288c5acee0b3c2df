// Text operations with the results of Python's str: code points, white space, slices, and the text of values.
//
// Templates are written for Python, so the rendered text depends on these details. Texts must be valid UTF-8; returned
// views refer to the argument. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/template/value.h"

namespace latebind::templates {

// Returns whether str.isspace() is true for the code point.
[[nodiscard]] bool is_space(char32_t c);
// Return the number of code points, and each code point as text.
[[nodiscard]] std::size_t count_code_points(std::string_view text);
[[nodiscard]] std::vector<std::string_view> code_points_of(std::string_view text);
// The code points of a text, one after another. Unlike code_points_of(), it needs no memory for each.
class CodePoints {
 public:
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    [[nodiscard]] std::string_view operator*() const;
    Iterator& operator++();
    [[nodiscard]] bool operator==(std::default_sentinel_t /*end*/) const { return rest_.empty(); }

   private:
    std::string_view rest_;
  };

  explicit CodePoints(std::string_view text) : text_(text) {}
  [[nodiscard]] Iterator begin() const { return Iterator(text_); }
  [[nodiscard]] static std::default_sentinel_t end() { return std::default_sentinel; }

 private:
  std::string_view text_;
};
// Returns how often `part`, which must not be empty, is in the text. Occurrences do not overlap.
[[nodiscard]] std::size_t count_parts(std::string_view text, std::string_view part);

// Returns the text without the characters at its ends that are in `set`, or without white space if there is no set.
enum class Ends : std::uint8_t { kBoth, kLeft, kRight };
[[nodiscard]] std::string_view strip(std::string_view text, Ends ends = Ends::kBoth,
                                     std::optional<std::string_view> set = std::nullopt);
// Return the parts of the text between white space, and between a separator, which must not be empty. There are at most
// `most` + 1 parts; `from_right` splits from the end of the text.
[[nodiscard]] std::vector<std::string_view> split_at_space(std::string_view text, std::size_t most, bool from_right);
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                                     std::size_t most, bool from_right);
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends = false);
// Replaces at most `most` occurrences.
[[nodiscard]] std::string replace(std::string_view text, std::string_view old_part, std::string_view new_part,
                                  std::size_t most);

// Returns the text in another case. Returns kUnsupported for non-ASCII letters, unless their script has no cases.
enum class Case : std::uint8_t { kLower, kUpper, kTitle, kCapitalized };
[[nodiscard]] core::Result<std::string> in_case(std::string_view text, Case wanted);

// A slice, whose step must not be 0. slice_indices() returns the indices that it selects of `size` items; as in Python,
// the defaults of begin and end depend on the sign of the step.
struct SliceBounds {
  std::optional<std::int64_t> begin{};
  std::optional<std::int64_t> end{};
  std::int64_t step = 1;
};
[[nodiscard]] std::vector<std::size_t> slice_indices(const SliceBounds& slice, std::size_t size);

// Returns repr() of a float.
[[nodiscard]] std::string text_of(double number);
// str() and repr() of a value. They return kUnsupported for kinds whose text in Python is an address or a class.
[[nodiscard]] core::Result<std::string> text_of(const Value& value);
[[nodiscard]] core::Status append_repr(const Value& value, std::string& out);

}  // namespace latebind::templates
