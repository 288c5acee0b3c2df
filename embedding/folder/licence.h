// The licence of a model, as its card on the hub names it. Pure functions of the files; any thread may call them.
#pragma once

#include <string>
#include <string_view>

#include "core/json/value.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

struct Licence {
  std::string name{};  // "apache-2.0"; empty if the card names none
  // By its name it does not permit commercial use.
  bool forbids_commerce = false;

  // Returns "cc-by-nc-4.0, which forbids commercial use", for people.
  [[nodiscard]] std::string text() const;
  // Returns {name, forbids_commerce}, or null without a name.
  [[nodiscard]] core::Json describe() const;
};

// Reads a card that begins with "---", lines of "key: value" and "---". Of 'license: other', 'license_name' counts.
[[nodiscard]] Licence licence_of_card(std::string_view card);
// The same for README.md of a model; without a name if there is no such file.
[[nodiscard]] Licence read_licence(const ModelFiles& files);

}  // namespace latebind::embedding
