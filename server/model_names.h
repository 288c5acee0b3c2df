// The names of served models: by which of them a request may ask for each.
//
// A model has a canonical name, which lists and answers show, and others. "x" and "x:latest" are one name, as for
// Ollama's clients.
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
  std::string name{};  // empty: the model has the names that its place gives it
  std::string model{};

  // kInvalidArgument where either is empty.
  static core::Result<ModelArgument> parse(const std::string& text);
};

struct ModelNames {
  std::string given{};                // the argument, for messages
  std::string name{};                 // the canonical one
  std::vector<std::string> others{};  // may have the canonical one again
};

// What the argument alone says: NAME where it is given. Else the name of the folder or file, or NAME of ORG/NAME, and
// beside it ORG/NAME and MODEL as it is written. Looks whether there is such a file, and at nothing in it.
[[nodiscard]] ModelNames names_of(const ModelArgument& argument);

// Which model has which name. Models are numbered in the order of add(). Constant once it is filled.
class NameTable {
 public:
  // kInvalidArgument where another model has one of these names, with both models; and where the canonical name is
  // empty, too long, or no line of UTF-8. Other names that are such are left out.
  [[nodiscard]] core::Status add(const ModelNames& names);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::map<std::string, std::size_t, std::less<>> models_;  // by the name without ":latest"
  std::vector<std::string> given_;
};

// Adds the names that aliases give to the models: "NAME=MODEL", where MODEL is any of a model's names, or "NAME" for
// the first one. kInvalidArgument where no model is called MODEL, and the errors of NameTable::add() for the result.
[[nodiscard]] core::Status add_aliases(std::span<const std::string> aliases, std::span<ModelNames> models);

}  // namespace latebind::server
