// Router: a model's module that has one way for queries and another for documents, each of modules of its own.
//
// Source of the layout: sentence-transformers' Router, which saves router_config.json and a folder for each module.
// Values; reading is a pure function of the document, for any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/text_role.h"

namespace latebind::embedding {

inline constexpr std::string_view kRouterFile = "router_config.json";

// A module as a list has it: its class, and its folder below the model's, "a/b" or "".
struct ListedModule {
  std::string type;
  std::string folder;

  // The last part of a class of sentence-transformers: "Pooling"; empty for others.
  [[nodiscard]] std::string_view kind() const;
};

struct Router {
  std::vector<ListedModule> query;
  std::vector<ListedModule> document;
  // The way of texts of which nothing is said; kUnsaid: there is none.
  TextRole by_default = TextRole::kUnsaid;

  // kUnsaid: the documents', which the model's size and limits are of.
  [[nodiscard]] const std::vector<ListedModule>& modules_of(TextRole role) const {
    return role == TextRole::kQuery ? query : document;
  }
};

// The list in modules.json. `name` stands for the file. kInvalidModel, naming what is wrong in it.
[[nodiscard]] core::Result<std::vector<ListedModule>> read_module_list(const nlohmann::json& document,
                                                                       std::string_view name);

// Whether the list begins with a router, which is read_router() of the file kRouterFile in its folder.
[[nodiscard]] bool begins_with_router(const std::vector<ListedModule>& list);

// Of a router in `folder`. kInvalidModel, kUnsupported for routes other than these two.
[[nodiscard]] core::Result<Router> read_router(const nlohmann::json& document, const std::string& folder,
                                               std::string_view name);

}  // namespace latebind::embedding
