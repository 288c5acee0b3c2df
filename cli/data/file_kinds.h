// What the name of a file says of its content. Upper and lower case are the same. Pure functions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/text/ascii.h"

namespace latebind::cli {

[[nodiscard]] constexpr bool ends_in_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [name](std::string_view ending) { return core::ends_with_in_any_case(name, ending); });
}

[[nodiscard]] constexpr bool is_packed(std::string_view name) {
  return ends_in_any(name, {".gz"});
}
[[nodiscard]] constexpr std::string_view unpacked_name(std::string_view name) {
  return is_packed(name) ? name.substr(0, name.size() - 3) : name;
}
[[nodiscard]] constexpr bool is_parquet(std::string_view name) {
  return ends_in_any(name, {".parquet", ".pq"});
}
// Columns that have names; which of them has the texts must be known.
[[nodiscard]] constexpr bool is_comma_table(std::string_view name) {
  return ends_in_any(unpacked_name(name), {".csv", ".tsv"});
}
[[nodiscard]] constexpr bool is_binary_table(std::string_view name) {
  return is_parquet(name) || ends_in_any(name, {".arrow", ".feather", ".ipc"});
}
// May hold one document or one object per line; only the user knows which.
[[nodiscard]] constexpr bool is_json(std::string_view name) {
  return ends_in_any(unpacked_name(name), {".json"});
}
// Names of outputs with an ending from which no format follows. A name without an ending has none.
[[nodiscard]] constexpr bool is_no_output_format(std::string_view name) {
  const std::string_view last = name.substr(name.find_last_of("/\\") + 1);
  const auto dot = last.rfind('.');
  return dot != std::string_view::npos && dot > 0 &&
         !ends_in_any(last, {".jsonl", ".ndjson", ".npy", ".parquet", ".pq"});
}
// Packed ones, too.
[[nodiscard]] constexpr bool is_json_lines(std::string_view name) {
  return ends_in_any(unpacked_name(name), {".jsonl", ".ndjson"});
}

}  // namespace latebind::cli
