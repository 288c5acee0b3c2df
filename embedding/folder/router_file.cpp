#include "embedding/folder/router_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/config.h"
#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/folder/onnx_files.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_bool;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kModulesMax = 32;
constexpr std::string_view kQueryRoute = "query";
constexpr std::string_view kDocumentRoute = "document";

Status invalid(std::string_view name, std::string_view what) {
  return {StatusCode::kInvalidModel, fmt::format("{}: {}", name, what)};
}

Status unsupported(std::string_view name, std::string_view what) {
  return {StatusCode::kUnsupported, fmt::format("{}: {}", name, what)};
}

Status check_count(std::size_t count, std::string_view name) {
  if (count > 0 && count <= kModulesMax) return {};
  return invalid(name, fmt::format("{} modules, between 1 and {} are read", count, kModulesMax));
}

// Checks a path below the model's folder. The path is untrusted and must not lead outside.
Result<std::string> folder_of(const std::string& relative, std::string_view name) {
  // No system accepts a longer path.
  constexpr std::size_t kPathBytesMax = 4096;
  if (relative.size() > kPathBytesMax)
    return invalid(name, fmt::format("a module's path has more than {} bytes", kPathBytesMax));
  if (!stays_inside(relative))
    return invalid(name, fmt::format("the path '{}' leads out of the model's folder", printable(relative)));
  return relative == "." ? std::string() : relative;
}

// Returns a member that must be an object.
Result<const Json*> read_member(const Json& document, const char* key, std::string_view name) {
  const auto* const found = core::find_member(document, key);
  if (found != nullptr && found->is_object()) return &*found;
  return invalid(name, fmt::format("'{}' is missing, or is not an object", key));
}

Result<std::vector<ListedModule>> read_route(const Json& structure, const Json& types, std::string_view route,
                                             const std::string& folder, std::string_view name) {
  const auto found = structure.find(route);
  if (found == nullptr) {
    return unsupported(name, fmt::format("there is no route '{}'; routers with one for queries, 'query', and one for "
                                         "documents, 'document', are supported",
                                         route));
  }
  if (!found->is_array()) return invalid(name, fmt::format("the route '{}' is not an array of modules", route));
  LB_RETURN_IF_ERROR(check_count(found->size(), name));
  std::vector<ListedModule> modules;
  for (const Json& item : *found) {
    if (!item.is_string()) return invalid(name, fmt::format("a module of the route '{}' is not a text", route));
    const auto& module = item.text();
    const auto type = types.find(module);
    if (type == nullptr || !type->is_string()) {
      return invalid(name, fmt::format("'types' does not say what '{}' is", printable(module)));
    }
    LB_ASSIGN_OR_RETURN(std::string below, folder_of(module, name));
    if (!folder.empty()) below = below.empty() ? folder : fmt::format("{}/{}", folder, below);
    modules.push_back({.type = type->get<std::string>(), .folder = std::move(below)});
  }
  return modules;
}

// Returns the role of texts without one. If the file names none, the reference takes the first route unless
// 'allow_empty_key' is false; Latebind refuses such texts instead of guessing. The reference always writes the name.
Result<TextRole> read_default(const Json& parameters, std::string_view name) {
  LB_ASSIGN_OR_RETURN(const std::string route, read_text(parameters, "default_route", "", name));
  if (route.empty()) return TextRole::kUnspecified;
  const auto role = core::parse_word<TextRole>(route);
  if (role.ok()) return *role;
  return invalid(name, fmt::format("'default_route' is '{}', and there is no such route", printable(route)));
}

}  // namespace

std::string_view ListedModule::kind() const {
  if (!type.starts_with("sentence_transformers.")) return {};
  return std::string_view(type).substr(type.rfind('.') + 1);
}

Result<std::vector<ListedModule>> read_module_list(const Json& document, std::string_view name) {
  if (!document.is_array()) return invalid(name, "an array of modules was expected");
  LB_RETURN_IF_ERROR(check_count(document.size(), name));
  std::vector<ListedModule> list;
  for (const Json& module : document) {
    if (!module.is_object()) return invalid(name, "a module is not an object");
    ListedModule& listed = list.emplace_back();
    LB_ASSIGN_OR_RETURN(listed.type, read_text(module, "type", "", name));
    LB_ASSIGN_OR_RETURN(const std::string relative, read_text(module, "path", "", name));
    LB_ASSIGN_OR_RETURN(listed.folder, folder_of(relative, name));
  }
  return list;
}

bool begins_with_router(const std::vector<ListedModule>& list) {
  return !list.empty() && list.front().kind() == "Router";
}

Result<RouterFile> read_router(const Json& document, const std::string& folder, std::string_view name) {
  LB_ASSIGN_OR_RETURN(const Json* types, read_member(document, "types", name));
  LB_ASSIGN_OR_RETURN(const Json* structure, read_member(document, "structure", name));
  LB_ASSIGN_OR_RETURN(const Json* parameters, read_member(document, "parameters", name));
  const auto* const mappings = core::find_member(*parameters, "route_mappings");
  if (mappings != nullptr && !mappings->empty()) {
    return unsupported(name, "'route_mappings' are not supported: queries and documents have routes of these names");
  }
  RouterFile router;
  LB_ASSIGN_OR_RETURN(router.query, read_route(*structure, *types, kQueryRoute, folder, name));
  LB_ASSIGN_OR_RETURN(router.document, read_route(*structure, *types, kDocumentRoute, folder, name));
  for (const auto& [route, type] : structure->members()) {
    if (route == kQueryRoute || route == kDocumentRoute) continue;
    return unsupported(
        name, fmt::format("the route '{}' is not supported; supported are query and document", printable(route)));
  }
  LB_ASSIGN_OR_RETURN(router.otherwise, read_default(*parameters, name));
  return router;
}

}  // namespace latebind::embedding
