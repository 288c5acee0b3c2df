// router_config.json: the modules of a model that has one route for queries and another for documents.
//
// Source of the layout: sentence-transformers' Router, which saves this file and a folder for each module. Values;
// reading is a pure function of the document, safe for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

inline constexpr std::string_view kRouterFile = "router_config.json";

// An entry of a list of modules: a class, and a folder below the model's, "a/b" or "".
struct ListedModule {
  std::string type;
  std::string folder;

  // The last part of a class of sentence-transformers: "Pooling"; empty for others.
  [[nodiscard]] std::string_view kind() const;
};

struct RouterFile {
  std::vector<ListedModule> query;
  std::vector<ListedModule> document;
  // The route of texts without a role; kUnspecified: there is none.
  TextRole otherwise = TextRole::kUnspecified;

  // kUnspecified: the documents' modules, which the model's size and limits are of.
  [[nodiscard]] const std::vector<ListedModule>& modules_of(TextRole role) const {
    return role == TextRole::kQuery ? query : document;
  }
};

// Reads the list in modules.json. `name` is the file's, for messages. kInvalidModel, naming what is wrong.
[[nodiscard]] core::Result<std::vector<ListedModule>> read_module_list(const nlohmann::json& document,
                                                                       std::string_view name);

// Whether the list begins with a router, whose file is kRouterFile in its folder.
[[nodiscard]] bool begins_with_router(const std::vector<ListedModule>& list);

// Reads the file of a router in `folder`. kInvalidModel; kUnsupported for routes other than these two.
[[nodiscard]] core::Result<RouterFile> read_router(const nlohmann::json& document, const std::string& folder,
                                                   std::string_view name);

}  // namespace latebind::embedding
