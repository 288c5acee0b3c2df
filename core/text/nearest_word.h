// Finds the known word that was probably meant. Pure functions, for any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

// Returns the known word with the smallest edit distance from `given`, ignoring case; empty when none is near enough. A
// beginning that both have ("LATEBIND_", "server.") does not count as near.
[[nodiscard]] std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known);

// Returns the names of a table's items, for the functions here. `name` gives the name of an item; it may be a pointer
// to a member.
template <class Table, class Name>
[[nodiscard]] std::vector<std::string_view> words_of(const Table& table, Name name) {
  std::vector<std::string_view> words;
  for (const auto& item : table)
    words.emplace_back(std::invoke(name, item));
  return words;
}

// Returns the end of the error message for a name in a file that Latebind does not support: "; the nearest name that
// works is X; supported are A, B and C". The nearest name is what nearest_word() finds. If it finds none, it is the
// longest name that is a part of `given`; otherwise the name that shares the longest run of at least four letters with
// it. A beginning or an end that all known words share does not count, and of a name with dots only the part after the
// last dot counts. If `listed` is not empty, it replaces "supported are …".
[[nodiscard]] std::string supported_instead(std::string_view given, std::span<const std::string_view> known,
                                            std::string_view listed = {});

}  // namespace latebind::core
