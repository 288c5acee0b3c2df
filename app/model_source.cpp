#include "app/model_source.h"

#include <fmt/format.h>

#include <cstdint>
#include <system_error>
#include <utility>

#include "core/bundle/bundle_model.h"
#include "core/bundle/package.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "embedding/build_model.h"

namespace latebind::app {

namespace hub = embedding::hub;
using core::Result;
using core::Status;
using core::StatusCode;

Result<std::filesystem::path> find_model(const std::string& model, const std::string& onnx_file, const Client& client) {
  const auto path = platform::path_from_utf8(model);
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) return path;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) {
    return Status(StatusCode::kNotFound,
                  fmt::format("{} is a symbolic link to {}, which is not there: is a disk missing, or was it moved?",
                              platform::quoted(path), platform::quoted(std::filesystem::read_symlink(path, error))));
  }
  if (!hub::is_model_name(model)) return path;
  LB_ASSIGN_OR_RETURN(const auto name, hub::ModelName::parse(model));
  auto found = pull_model(name, onnx_file, client);
  if (found.ok()) return found->folder;
  const Status& status = found.status();
  if (status.code() != StatusCode::kNotFound && status.code() != StatusCode::kPermissionDenied) return status;
  return status.with_context(fmt::format("there is no folder '{}', so it is taken for a name on the hub", model));
}

Result<hub::Snapshot> pull_model(const hub::ModelName& name, const std::string& onnx_file, const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto settings, hub::Settings::from_environment());
  hub::SnapshotOptions options;
  options.note = client.note;
  options.on_progress = [&client](std::uint64_t done, std::uint64_t total) { client.advance(kLoading, done, total); };
  options.cancellation = client.cancellation;
  options.onnx_file = onnx_file;
  return hub::snapshot(name, settings, options);
}

Result<core::Model> open_model(const std::filesystem::path& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error) && !core::is_bundle(place)) return core::Model::from_file(place);
  LB_ASSIGN_OR_RETURN(const core::Package package, core::Package::open(place));
  return embedding::model_of_bundle(package);
}

namespace {

embedding::EmbedderOptions options_of(const Runtime& runtime,
                                      std::function<void(const embedding::BatchRecord&)> on_batch) {
  embedding::EmbedderOptions options;
  options.load = runtime.load;
  options.batch_tokens = runtime.batch_tokens;
  options.max_tokens = runtime.max_tokens;
  options.onnx_file = runtime.onnx_file;
  options.on_batch = std::move(on_batch);
  return options;
}

}  // namespace

Result<std::unique_ptr<embedding::Embedder>> open_embedder(const std::filesystem::path& folder, const Runtime& runtime,
                                                           std::function<void(const embedding::BatchRecord&)> on_batch,
                                                           bool token_vectors) {
  embedding::EmbedderOptions options = options_of(runtime, std::move(on_batch));
  options.token_vectors = token_vectors;
  return embedding::Embedder::open(runtime.engine(), folder, runtime.placement, options);
}

Result<std::unique_ptr<embedding::Embedder>> open_network(const std::filesystem::path& folder, const Runtime& runtime,
                                                          std::optional<embedding::EncoderKind> kind,
                                                          std::function<void(const embedding::BatchRecord&)> on_batch,
                                                          embedding::TextRole role) {
  embedding::EmbedderOptions options = options_of(runtime, std::move(on_batch));
  options.kind = kind;
  options.role = role;
  return embedding::Embedder::open(runtime.engine(), folder, runtime.placement, options);
}

}  // namespace latebind::app
