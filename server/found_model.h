// A model to be served, before it is loaded: where it is, and what its files say about it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/client.h"
#include "app/runtime.h"
#include "core/result.h"
#include "server/model_names.h"

namespace latebind::server {

struct FoundModel {
  std::filesystem::path place;
  ModelNames names{};
  std::string named_by{};  // the file that gave the canonical name if the folder's name is generic; otherwise empty
  std::string commit{};    // on the hub; empty: unknown
};

// Finds the model, downloading it if it is a name on the hub and not in the cache. Its names are those of names_of().
// If the argument gives no name, a folder in the hub's cache, and a bundle made from one, also have ORG/NAME, with NAME
// as the canonical name; a folder with a generic name such as "/model" takes the name in its model card (README.md) or
// config.json. Unreadable files are ignored here: loading the model reports them.
[[nodiscard]] core::Result<FoundModel> find_model(const ModelArgument& argument, const app::Runtime& runtime,
                                                  const app::Client& client);

// Like find_model(), for a model that is on disk.
[[nodiscard]] FoundModel describe_model(const ModelArgument& argument, std::filesystem::path place);

// Returns the model's name in a model card, ORG/NAME or NAME: from the results in its front matter ("model-index"),
// otherwise from the first heading if that looks like a name. Empty if there is no name.
[[nodiscard]] std::string name_in_card(std::string_view card);

// Returns the quoted ORG/NAME in a model card's examples for this NAME. Empty if the card has no such name, or several
// owners.
[[nodiscard]] std::string owned_name_in_card(std::string_view card, std::string_view name);

// Whether this is a network that takes tensors: an ONNX file or an OpenVINO IR.
[[nodiscard]] bool is_network_file(const std::filesystem::path& place);

}  // namespace latebind::server
