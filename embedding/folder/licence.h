// The licence of a model, as its card on the hub names it. Pure functions of the files; any thread may call them.
#pragma once

#include <string>
#include <string_view>

#include "core/json/value.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

struct Licence {
  std::string name{};  // "apache-2.0"; empty if the card names none
  // True if the name says that the licence does not permit commercial use.
  bool forbids_commerce = false;

  // Returns "cc-by-nc-4.0, which forbids commercial use", for people.
  [[nodiscard]] std::string text() const;
  // Returns {name, forbids_commerce}, or null without a name.
  [[nodiscard]] core::Json describe() const;
};

// Reads the front matter of a card: "---", lines of "key: value", and "---". For 'license: other', the name is that of
// 'license_name'.
[[nodiscard]] Licence licence_of_card(std::string_view card);
// The model's card.
inline constexpr std::string_view kCardFile = "README.md";

// Reads README.md of a model. The name is empty if there is no such file.
[[nodiscard]] Licence read_licence(const ModelFiles& files);

}  // namespace latebind::embedding
