#include "app/model_source.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/bundle/bundle_model.h"
#include "core/bundle/package.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "embedding/build_model.h"
#include "embedding/folder/find_adapters.h"
#include "embedding/hub/content_check.h"
#include "embedding/hub/name.h"

namespace latebind::app {

namespace hub = embedding::hub;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// The organisation that short names of models with this output belong to, as in sentence-transformers.
std::string_view owner_of(std::string_view output) {
  const embedding::OutputKind* const kind = embedding::find_output_kind(output);
  return kind != nullptr && kind->input != nullptr ? kind->hub_owner : hub::kShortNameOwner;
}

}  // namespace

Result<std::filesystem::path> find_model(const std::string& model, const std::string& onnx_file, const Client& client,
                                         std::string_view output) {
  const auto path = platform::path_from_utf8(model);
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) return path;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) {
    return Status(StatusCode::kNotFound,
                  fmt::format("{} is a symbolic link to {}, which does not exist: is a disk missing, or was it moved?",
                              platform::quoted(path), platform::quoted(std::filesystem::read_symlink(path, error))));
  }
  const std::string_view owner = owner_of(output);
  if (!hub::is_model_name(model, owner)) return path;
  LB_ASSIGN_OR_RETURN(const auto name, hub::ModelName::parse(model, owner));
  const bool is_short = name.text() != model && name.id != model.substr(0, model.find('@'));
  const std::string doubt = fmt::format("there is no folder '{}', so it is read as {} on the hub", model,
                                        is_short ? "the name " + name.text() : "a name");
  LB_ASSIGN_OR_RETURN(auto found, pull_model(name, onnx_file, client, hub::CachedContent::kTrusted, doubt));
  return std::move(found.folder);
}

Result<hub::Snapshot> pull_model(const hub::ModelName& name, const std::string& onnx_file, const Client& client,
                                 hub::CachedContent content, const std::string& doubt) {
  LB_ASSIGN_OR_RETURN(const auto settings, hub::Settings::from_environment());
  hub::SnapshotOptions options;
  options.content = content;
  options.doubt = doubt;
  options.note = client.note;
  options.note_fallback = client.note_fallback;
  options.on_progress = [&client](std::uint64_t done, std::uint64_t total) { client.advance(kLoading, done, total); };
  options.cancellation = client.cancellation;
  options.onnx_file = onnx_file;
  return hub::snapshot(name, settings, options);
}

embedding::FolderOptions folder_options(const std::string& onnx_file, const Client& client) {
  return {.onnx_file = onnx_file,
          .find_base = [client](const std::string& name) { return find_model(name, {}, client); }};
}

Status find_base_of(const std::filesystem::path& folder, const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto files, embedding::ModelFiles::open(folder));
  LB_ASSIGN_OR_RETURN(const auto adapter, embedding::find_adapter(files, folder));
  return adapter ? embedding::find_base(files, *adapter, folder_options({}, client)).status() : Status();
}

Result<embedding::ModelFolder> open_folder(const std::filesystem::path& folder, const std::string& onnx_file) {
  auto opened = embedding::ModelFolder::open(folder, folder_options(onnx_file));
  if (!opened.ok()) return hub::with_damage(opened.status(), folder);
  return opened;
}

Result<core::Model> open_model(const std::filesystem::path& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error) && !core::is_bundle(place)) {
    auto model = core::Model::from_file(place);
    if (!model.ok()) return hub::with_damage(model.status(), place);
    return model;
  }
  LB_ASSIGN_OR_RETURN(const core::Package package, core::Package::open(place));
  return embedding::model_of_bundle(package);
}

namespace {

embedding::EmbedderOptions options_of(const Runtime& runtime, OpenOptions&& given) {
  embedding::EmbedderOptions options;
  options.load = runtime.load;
  options.batch_tokens = runtime.batch_tokens;
  options.max_tokens = runtime.max_tokens;
  options.outputs = std::move(given.outputs);
  options.onnx_file = runtime.onnx_file;
  options.on_batch = std::move(given.on_batch);
  options.role = given.role;
  return options;
}

}  // namespace

Result<std::unique_ptr<embedding::Embedder>> open_network(const std::filesystem::path& folder, const Runtime& runtime,
                                                          OpenOptions options) {
  LB_ASSIGN_OR_RETURN(const embedding::ModelFolder read, open_folder(folder, runtime.onnx_file));
  return open_network(read, runtime, std::move(options));
}

Result<std::unique_ptr<embedding::Embedder>> open_network(const embedding::ModelFolder& folder, const Runtime& runtime,
                                                          OpenOptions options) {
  auto embedder =
      embedding::Embedder::open(runtime.engine(), folder, runtime.placement, options_of(runtime, std::move(options)));
  if (!embedder.ok()) return hub::with_damage(embedder.status(), folder.files().place());
  return embedder;
}

}  // namespace latebind::app
