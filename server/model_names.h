// The names by which requests may select a served model.
//
// A model has a canonical name, which lists and answers show, and further names. "x" and "x:latest" are the same name,
// as Ollama's clients expect.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::server {

// "NAME=MODEL" or "MODEL".
struct ModelArgument {
  std::string name{};  // empty: the model takes the names of its path
  std::string model{};

  // Returns kInvalidArgument if either part is empty.
  static core::Result<ModelArgument> parse(const std::string& text);
};

struct ModelNames {
  std::string given{};                // the argument, for messages
  std::string name{};                 // the canonical one
  std::vector<std::string> others{};  // may repeat the canonical name
};

// Derives the names from the argument alone. With NAME=, the name is NAME. Otherwise it is the folder's or file's name,
// or the NAME of ORG/NAME, and ORG/NAME and MODEL as written are further names. Checks whether such a file exists but
// reads none.
[[nodiscard]] ModelNames names_of(const ModelArgument& argument);

// Maps names to models, which are numbered in the order of add(). Constant once it is filled.
class NameTable {
 public:
  // Returns kInvalidArgument, naming both models, if another model has one of these names, or if the canonical name is
  // empty, too long or not one line of UTF-8. Invalid further names are skipped.
  [[nodiscard]] core::Status add(const ModelNames& names);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::map<std::string, std::size_t, std::less<>> models_;  // by the name without ":latest"
  std::vector<std::string> given_;
};

// Adds aliases to the models' names. An alias is "NAME=MODEL", with any of a model's names as MODEL, or "NAME" for the
// first model. Returns kInvalidArgument if MODEL is unknown, and the errors of NameTable::add() for the result.
[[nodiscard]] core::Status add_aliases(std::span<const std::string> aliases, std::span<ModelNames> models);

}  // namespace latebind::server
