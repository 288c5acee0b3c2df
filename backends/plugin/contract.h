// What both sides of the contract for plug-ins (latebind/latebind_backend.h) share: structs that grow, codes, and
// texts.
//
// Pure functions, for any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/result.h"
#include "core/tensor/tensor.h"
#include "latebind/latebind_backend.h"

namespace latebind::plugin {

// The largest sizes that are believed. Larger ones are not memory of a struct, a list or a name.
inline constexpr std::size_t kStructMax = std::size_t{1} << 16U;
inline constexpr std::size_t kListMax = std::size_t{1} << 20U;
inline constexpr std::size_t kNameMax = std::size_t{1} << 12U;
inline constexpr std::size_t kTextMax = std::size_t{1} << 20U;

// The error for what the other side did against the contract: kInternal.
[[nodiscard]] core::Status breach(std::string text);

// Makes a struct of this side: all fields are zero except the size.
template <class T>
[[nodiscard]] T sized() {
  static_assert(std::is_trivially_copyable_v<T>);
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

// Whether the size that a struct of the other side claims may be one.
template <class T>
[[nodiscard]] bool has_size(const T& given) {
  return given.struct_size >= sizeof(given.struct_size) && given.struct_size <= kStructMax;
}

// Copies a struct of the other side, which has a size, as far as both sides know it. Fields beyond its size are zero.
template <class T>
[[nodiscard]] T read_struct(const T& given) {
  static_assert(std::is_trivially_copyable_v<T>);
  T read{};
  std::memcpy(&read, &given, std::min(given.struct_size, sizeof(T)));
  return read;
}

// Calls `take` with each struct of a list of the other side, read as read_struct() does. `what` names one of them in
// errors. Returns the first error: kInternal for a list that is none, otherwise that of `take`.
template <class T, class Take>
[[nodiscard]] core::Status read_list(std::string_view what, const T* const* list, std::size_t count, const Take& take) {
  const auto wrong = [&](const std::string& text) { return breach(std::string(what) + text); };
  if (count == 0) return {};
  if (list == nullptr) return wrong(": there is a count, but no list");
  if (count > kListMax) return wrong(": the list is too long: " + std::to_string(count));
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr) return wrong(" " + std::to_string(i) + " is null");
    if (!has_size(*list[i])) {
      return wrong(" " + std::to_string(i) + " has the size " + std::to_string(list[i]->struct_size));
    }
    LB_RETURN_IF_ERROR(take(read_struct(*list[i])));
  }
  return {};
}

// Returns the code for the other side: LBB_INTERNAL for those that no backend returns.
[[nodiscard]] lbb_code code_of(core::StatusCode code);
// Returns the code that the other side has returned, or std::nullopt if it is none of the contract's.
[[nodiscard]] std::optional<core::StatusCode> status_code_of(lbb_code code);

// Returns a text of the other side. kInternal, and `what`, when it is null, longer than `size_max` or not UTF-8.
[[nodiscard]] core::Result<std::string> text_of(std::string_view what, const char* text,
                                                std::size_t size_max = kNameMax);
// Likewise for a text that may be null, which gives "".
[[nodiscard]] core::Result<std::string> optional_text_of(std::string_view what, const char* text,
                                                         std::size_t size_max = kNameMax);

// Returns the shape of the other side. kInternal, and `what`, when it is none.
[[nodiscard]] core::Result<core::Shape> shape_of(std::string_view what, const std::int64_t* dims, std::size_t rank);
// Returns the element type of the other side. kInternal, and `what`, when the number is none.
[[nodiscard]] core::Result<core::ElementType> type_of(std::string_view what, std::int32_t type);

// Whether the text is the name of a backend or of a setting: a lower-case letter, then such letters, digits and '_'; at
// most 32 bytes.
[[nodiscard]] bool is_identifier(std::string_view text);

}  // namespace latebind::plugin
