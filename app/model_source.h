// Opens models given by folder, by file or by name on the hub. No other file distinguishes these.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/client.h"
#include "app/runtime.h"
#include "core/model/model.h"
#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/encoder_kind.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/snapshot.h"

namespace latebind::app {

// Resolves a model argument to a path. An existing path wins. Otherwise ORG/NAME, a short NAME, and either with
// @REVISION are names on the hub, which are downloaded if the cache lacks them. Anything else is returned as a path,
// and opening it reports the error. `onnx_file` is downloaded instead of the weights unless it is empty. `kind` selects
// among short names (hub::ModelName::parse()).
[[nodiscard]] core::Result<std::filesystem::path> find_model(
    const std::string& model, const std::string& onnx_file, const Client& client,
    embedding::EncoderKind kind = embedding::EncoderKind::kEmbedder);

// Downloads what the cache lacks. `doubt` is that of hub::SnapshotOptions.
[[nodiscard]] core::Result<embedding::hub::Snapshot> pull_model(const embedding::hub::ModelName& name,
                                                                const std::string& onnx_file, const Client& client,
                                                                embedding::hub::CachedContent content,
                                                                const std::string& doubt = {});

// Reads a model folder. Returns the errors of embedding::ModelFolder::open(), extended by hub::with_damage(), as do all
// functions here that open a model.
[[nodiscard]] core::Result<embedding::ModelFolder> open_folder(const std::filesystem::path& folder,
                                                               const std::string& onnx_file);

// Opens a model that is not used for texts: an ONNX file, an OpenVINO IR, or a bundle as a ZIP or a folder. Returns the
// errors of core::Model::from_file(), core::Package::open() and embedding::model_of_bundle().
[[nodiscard]] core::Result<core::Model> open_model(const std::filesystem::path& place);

// Reads a model folder and loads the model for text vectors or token vectors. `runtime` must outlive the embedder.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_embedder(
    const std::filesystem::path& folder, const Runtime& runtime,
    std::function<void(const embedding::BatchRecord&)> on_batch = {}, bool token_vectors = false);

// Loads the network of a model of this kind, or of any kind; embedding::CrossEncoder::of() and its like wrap it. For a
// router, `role` selects the route.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(
    const std::filesystem::path& folder, const Runtime& runtime, std::optional<embedding::EncoderKind> kind,
    std::function<void(const embedding::BatchRecord&)> on_batch = {}, embedding::TextRole role = {});

}  // namespace latebind::app
