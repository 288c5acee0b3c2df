// RouterFile: router_config.json, with the modules of a model that has one route for queries and another for documents.
//
// Source of the layout: sentence-transformers' Router, which saves this file and a folder for each module. Values;
// reading is a pure function of the document, safe for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

inline constexpr std::string_view kRouterFile = "router_config.json";

// An entry of a list of modules: a class, and a folder below the model's, "a/b" or "".
struct ListedModule {
  std::string type;
  std::string folder;

  // Returns the last part of a class name of sentence-transformers, such as "Pooling"; empty for other classes.
  [[nodiscard]] std::string_view kind() const;
};

struct RouterFile {
  std::vector<ListedModule> query;
  std::vector<ListedModule> document;
  // The role of texts without one; kUnspecified if the file names no default.
  TextRole otherwise = TextRole::kUnspecified;

  // Returns the modules for this role. kUnspecified selects those of documents, which define the model's size and
  // limits.
  [[nodiscard]] const std::vector<ListedModule>& modules_of(TextRole role) const {
    return role == TextRole::kQuery ? query : document;
  }
};

// Reads the list in modules.json. `name` is the file's name, for messages. Returns kInvalidModel, naming the fault.
[[nodiscard]] core::Result<std::vector<ListedModule>> read_module_list(const core::Json& document,
                                                                       std::string_view name);

// Returns whether the list begins with a router, whose file is kRouterFile in its folder.
[[nodiscard]] bool begins_with_router(const std::vector<ListedModule>& list);

// Reads the file of a router in `folder`. Returns kInvalidModel for a faulty file, and kUnsupported for routes other
// than these two.
[[nodiscard]] core::Result<RouterFile> read_router(const core::Json& document, const std::string& folder,
                                                   std::string_view name);

}  // namespace latebind::embedding
