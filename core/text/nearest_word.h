// Which known word was probably meant. Pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

// The known word nearest to `given` by edit distance, upper and lower case being the same, or empty when none is near
// enough. A beginning that both have ("LATEBIND_", "server.") makes nothing near.
[[nodiscard]] std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known);

// The names of what a table has, for the functions here: of each item what `name`, such as a pointer to a member,
// gives.
template <class Table, class Name>
[[nodiscard]] std::vector<std::string_view> words_of(const Table& table, Name name) {
  std::vector<std::string_view> words;
  for (const auto& item : table)
    words.emplace_back(std::invoke(name, item));
  return words;
}

// What a file names and nothing here has, for the end of the message that says so: "; the nearest name that works is X;
// supported are A, B and C". Near is what nearest_word() finds, else the longest name that is a part of it, else what
// shares the longest run of letters with it, of at least four; a beginning or an end that all known words have does not
// count, and of names with dots what is behind the last one does. `listed` stands for "supported are …" where more is
// to be said.
[[nodiscard]] std::string supported_instead(std::string_view given, std::span<const std::string_view> known,
                                            std::string_view listed = {});

}  // namespace latebind::core
