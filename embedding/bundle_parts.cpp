#include "embedding/bundle_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bundle/asset.h"
#include "core/bundle/choose.h"
#include "core/bundle/compile.h"
#include "core/model/onnx_form.h"
#include "embedding/folder/licence.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// Files that a bundle keeps although loading does not need them.
constexpr const char* kCompanions[] = {"README.md", "LICENSE", "LICENSE.txt", "NOTICE"};
// ONNX Runtime's option for the folder in which it looks for the weights.
constexpr const char* kWeightsFolderOption = "session.model_external_initializers_file_folder_path";

Result<std::string> add_small_files(const ModelFolder& folder, core::PackageWriter& writer) {
  std::vector<core::PackageFile> files;
  const auto add = [&](const std::filesystem::path& file) -> Status {
    const std::string name = folder.files().relative(file);
    if (std::ranges::find(files, name, &core::PackageFile::path) != files.end() || !folder.files().has(file)) return {};
    LB_ASSIGN_OR_RETURN(auto stored, folder.files().open_file(file));
    files.push_back({name, std::move(stored.part.bytes)});
    return {};
  };
  for (const Specification* route : {&folder.documents(), folder.queries()}) {
    if (route == nullptr) continue;
    for (const auto& file : route->small_files)
      LB_RETURN_IF_ERROR(add(file));
    if (const auto& table = route->network.term_table_file) LB_RETURN_IF_ERROR(add(*table));
    if (const auto& adapter = route->network.adapter) LB_RETURN_IF_ERROR(add(adapter->weights));
    for (const TaskAdapter& task : route->network.tasks)
      LB_RETURN_IF_ERROR(add(task.adapter.weights));
  }
  for (const char* name : kCompanions)
    LB_RETURN_IF_ERROR(add(folder.files().place() / name));
  return writer.add_asset(files);
}

}  // namespace

Status add_portable(const ModelFolder& folder, const GraphModel& graph, core::PackageWriter& writer) {
  LB_ASSIGN_OR_RETURN(const core::ModelForm onnx, core::onnx_form(graph.model));
  core::VariantInput variant = core::portable_input(core::ModelFormat::kOnnx);
  core::LatebindInfo& info = *variant.latebind;
  info.precision = core::word_of(core::Precision::kF32);
  LB_ASSIGN_OR_RETURN(info.assets[core::kModelFolderRole], add_small_files(folder, writer));
  if (onnx.file.empty()) {
    variant.files.push_back({info.model, onnx.graph});
    std::vector<core::PackageFile> weights;
    for (const core::ExternalData& external : onnx.external)
      weights.push_back({external.location, external.data});
    LB_ASSIGN_OR_RETURN(const std::string asset, writer.add_asset(weights));
    info.assets[kWeightsRole] = weights.size() == 1 ? fmt::format("{}/{}", asset, weights.front().path) : asset;
    variant.executor_info[core::kHostSlot]["session_options"][kWeightsFolderOption] = asset;
  } else {
    LB_ASSIGN_OR_RETURN(auto stored, folder.files().open_file(*folder.documents().network.onnx_file));
    LB_RETURN_IF_ERROR(core::check_portable_onnx(stored.bytes(), stored.name));
    variant.files.push_back({info.model, std::move(stored.part.bytes)});
  }
  return writer.add_variant(core::kModelComponent, std::move(variant));
}

core::PackageHead package_head(const ModelFolder& folder) {
  core::PackageHead head;
  head.name = folder.name();
  const ModelOrigin origin = folder.files().origin();
  if (!origin.source.empty()) head.additional_metadata["source"] = origin.source;
  if (!origin.revision.empty()) head.additional_metadata["revision"] = origin.revision;
  if (const Licence licence = read_licence(folder.files()); !licence.name.empty())
    head.additional_metadata["license"] = licence.name;
  return head;
}

}  // namespace latebind::embedding
