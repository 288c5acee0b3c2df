#include "app/jobs/compile_input.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/model_source.h"
#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/bundle/package_identity.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "embedding/hub/content_check.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

Result<CompileInput> read_folder(const std::filesystem::path& place, const std::string& onnx_file,
                                 const Client& client) {
  LB_ASSIGN_OR_RETURN(auto folder, embedding::ModelFolder::open(place, folder_options(onnx_file, client)));
  if (folder.has_routes() && folder.queries()->network.term_table == nullptr) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} has one route for queries and another for documents; a compiled model has one", folder.name()));
  }
  const embedding::Specification& specification = folder.documents();
  LB_ASSIGN_OR_RETURN(auto graph, embedding::build_model(specification));
  if (client.note && !graph.assumed.empty()) client.note(graph.assumed);
  CompileInput input{.model = graph.model,
                     .added_to = {},
                     .bytes = 0,
                     .folder = {},
                     .graph = {},
                     .inputs = graph.inputs,
                     .longest = specification.input.max_tokens};
  for (const auto& large : specification.large_files()) {
    LB_ASSIGN_OR_RETURN(const auto stored, folder.files().open_file(large));
    input.bytes += stored.bytes().size();
  }
  input.folder = std::move(folder);
  input.graph = std::move(graph);
  return input;
}

Result<CompileInput> read_bundle(const std::filesystem::path& place, const std::string& onnx_file,
                                 const Client& client) {
  LB_ASSIGN_OR_RETURN(core::Package package, core::Package::open(place));
  LB_ASSIGN_OR_RETURN(const core::Component* component, core::model_component(package));
  const core::Variant* portable = core::portable_variant(*component);
  if (portable == nullptr) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: it has no portable model to compile", package.files().name()));
  }
  const bool embeds = portable->latebind && portable->latebind->assets.contains(core::kModelFolderRole);
  Result<CompileInput> input = Status(StatusCode::kInternal, "not read");
  if (embeds) {
    input = read_folder(place, onnx_file, client);
  } else {
    LB_ASSIGN_OR_RETURN(core::Model model, core::model_of_bundle(package));
    LB_ASSIGN_OR_RETURN(const auto files, package.files().list());
    input = CompileInput{.model = std::move(model), .added_to = {}, .bytes = 0, .folder = {}, .graph = {}};
    for (const auto& file : files)
      input->bytes += file.size;
  }
  if (input.ok()) {
    LB_ASSIGN_OR_RETURN(input->state, core::state_of(package.files()));
    input->added_to = std::move(package);
  }
  return input;
}

}  // namespace

Result<CompileInput> read_compile_input(const std::string& model, bool add, const std::string& onnx_file,
                                        const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto place, find_model(model, onnx_file, client));
  const bool is_bundle = core::is_bundle(place);
  if (is_bundle && add) return read_bundle(place, onnx_file, client);
  if (add)
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: {} is not a bundle", client.name("add"), model));
  if (is_bundle) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is already a bundle: {} adds compiled models to it", model, client.name("add")));
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(place, error) || embedding::is_gguf_file(place) ||
      embedding::has_gguf_suffix(place)) {
    auto read = read_folder(place, onnx_file, client);
    if (!read.ok()) return embedding::hub::with_damage(read.status(), place);
    return read;
  }
  LB_ASSIGN_OR_RETURN(core::Model read, open_model(place));
  std::uint64_t bytes = 0;
  for (const auto& file : read.files())
    bytes += std::filesystem::file_size(file, error);
  return CompileInput{.model = std::move(read), .added_to = {}, .bytes = bytes, .folder = {}, .graph = {}};
}

}  // namespace latebind::app
