#include "embedding/folder/find_adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/bundle/bundle_model.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

namespace {

constexpr std::string_view kTasksFolder = "adapters";
constexpr std::size_t kTasksMax = 64;

}  // namespace

Result<std::optional<AdapterSpec>> find_adapter(const ModelFiles& files, const path& folder) {
  AdapterSpec adapter{.config_file = folder / kAdapterConfigFile};
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, adapter.config_file));
  if (!config) return std::optional<AdapterSpec>();
  LB_ASSIGN_OR_RETURN(adapter.config, read_adapter_config(*config, adapter.config_file));
  for (const std::string_view name : {kAdapterFile, kAdapterTorchFile}) {
    if (adapter.weights.empty() && files.has(folder / name)) adapter.weights = folder / name;
  }
  if (!adapter.weights.empty()) return std::optional(std::move(adapter));
  return Status(StatusCode::kNotFound, fmt::format("{}: neither {} nor {} is beside it", adapter.config.file,
                                                   kAdapterFile, kAdapterTorchFile));
}

Result<path> find_base(const ModelFiles& files, const AdapterSpec& adapter, const FolderOptions& options) {
  if (files.package() != nullptr) return files.place() / ModelFiles::kBaseFolder;
  const std::string& base = adapter.config.base;
  const auto wrong = [&](StatusCode code, std::string_view what) {
    return Status(code,
                  fmt::format("{}: 'base_model_name_or_path' is '{}', {}", adapter.config.file, printable(base), what));
  };
  if (base.empty()) {
    return invalid_file(adapter.config_file,
                        "'base_model_name_or_path' is missing: it names the model that the "
                        "adapter changes");
  }
  const path given = platform::path_from_utf8(base);
  std::error_code error;
  path found;
  if (std::filesystem::is_directory(given, error)) {
    found = platform::anchored(given);
  } else if (options.find_base) {
    auto on_hub = options.find_base(base);
    if (!on_hub.ok()) {
      return on_hub.status().with_context(fmt::format("{}: 'base_model_name_or_path'", adapter.config.file));
    }
    found = *std::move(on_hub);
  }
  if (found.empty() || !std::filesystem::is_directory(found, error))
    return wrong(StatusCode::kNotFound, "which is neither a folder here nor a model on the hub");
  if (std::filesystem::exists(found / kAdapterConfigFile, error))
    return wrong(StatusCode::kUnsupported,
                 "which has an adapter itself: one adapter on top of another is not supported");
  if (core::is_bundle(found))
    return wrong(StatusCode::kUnsupported, "a bundle: the adapter needs the folder from which it was made");
  return found;
}

Result<std::vector<TaskAdapter>> find_task_adapters(const ModelFiles& files, const path& folder, const Json& config) {
  std::map<std::string, path> places;
  for (const path& above : {folder / kTasksFolder, folder}) {
    for (const std::string& name : files.folders_with(above, kAdapterConfigFile))
      places.try_emplace(name, above / platform::path_from_utf8(name));
  }
  LB_ASSIGN_OR_RETURN(const std::string type,
                      core::read_text(config, "model_type", "", platform::path_to_utf8(folder / "config.json")));
  const Architecture* const architecture = find_architecture(type);
  if (places.empty() && (architecture == nullptr || !architecture->needs_task_adapters))
    return std::vector<TaskAdapter>();
  std::vector<std::string> names;
  LB_ASSIGN_OR_RETURN(auto listed,
                      core::read_texts(config, "task_names", platform::path_to_utf8(folder / "config.json")));
  if (listed) {
    names = *std::move(listed);
  } else {
    for (const auto& [name, place] : places)
      names.push_back(name);
  }
  if (names.size() > kTasksMax) {
    return unsupported_file(
        folder, fmt::format("{} adapters of tasks are more than the {} supported", names.size(), kTasksMax));
  }
  std::vector<TaskAdapter> tasks;
  for (const std::string& name : names) {
    const auto place = places.find(name);
    if (place == places.end()) {
      return unsupported_file(folder, fmt::format("'task_names' of its config.json has '{}', but there is no {}/{}/{}",
                                                  printable(name), kTasksFolder, printable(name), kAdapterConfigFile));
    }
    LB_ASSIGN_OR_RETURN(auto adapter, find_adapter(files, place->second));
    if (!adapter) continue;
    tasks.push_back({.task = name, .adapter = *std::move(adapter)});
  }
  return tasks;
}

}  // namespace latebind::embedding
