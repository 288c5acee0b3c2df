// A model that is to be served, found by its argument: where it is, and what its files say of it, before it is loaded.
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
  std::string named_by{};  // the file that the canonical name is from, where the folder's own says nothing; else empty
  std::string commit{};    // of the hub; empty: unknown
};

// Downloads the model where it is a name on the hub and the cache lacks it. The names of names_of(), and besides, where
// the argument gives no name: ORG/NAME of a folder in the hub's cache and of a bundle that was made of one, NAME being
// the canonical one. A folder whose own name says nothing ("/model") is called as its card (README.md) or config.json
// says. What cannot be read is left to the loading of the model, which says why.
[[nodiscard]] core::Result<FoundModel> find_model(const ModelArgument& argument, const app::Runtime& runtime,
                                                  const app::Client& client);

// The same of a model that is there.
[[nodiscard]] FoundModel describe_model(const ModelArgument& argument, std::filesystem::path place);

// The model's name in a model card: ORG/NAME or NAME. From the results of its front matter ("model-index"), else from
// the first heading, where that is a name and no word. Empty where there is none.
[[nodiscard]] std::string name_in_card(std::string_view card);

// ORG/NAME in a model card, between quotes as in its examples, where NAME is this one. Empty where there is none, or
// there are several owners.
[[nodiscard]] std::string owned_name_in_card(std::string_view card, std::string_view name);

// A network that takes tensors: an ONNX file or an OpenVINO IR.
[[nodiscard]] bool is_network_file(const std::filesystem::path& place);

}  // namespace latebind::server
