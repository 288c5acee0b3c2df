// Models by folder, by file and by their names on the hub. The only place that knows the difference.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/client.h"
#include "app/runtime.h"
#include "core/model.h"
#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/encoder_kind.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/snapshot.h"

namespace latebind::app {

// The place that a model argument refers to. What exists is a path, whatever it looks like; ORG/NAME, a short NAME and
// either with @REVISION are otherwise names on the hub, and are downloaded when the cache lacks them; anything else is
// a path, and opening it reports what is wrong with it. `onnx_file`: what is downloaded instead of the weights; empty:
// these. `kind`: of the model, for short names (hub::ModelName::parse()).
[[nodiscard]] core::Result<std::filesystem::path> find_model(
    const std::string& model, const std::string& onnx_file, const Client& client,
    embedding::EncoderKind kind = embedding::EncoderKind::kEmbedder);

// Downloads by name what the cache lacks. `doubt`: of hub::SnapshotOptions.
[[nodiscard]] core::Result<embedding::hub::Snapshot> pull_model(const embedding::hub::ModelName& name,
                                                                const std::string& onnx_file, const Client& client,
                                                                embedding::hub::CachedContent content,
                                                                const std::string& doubt = {});

// Reads the model's folder. The errors of embedding::ModelFolder::open(), with hub::with_damage(), as of all functions
// here that open a model.
[[nodiscard]] core::Result<embedding::ModelFolder> open_folder(const std::filesystem::path& folder,
                                                               const std::string& onnx_file);

// A model that is not to be used for texts: an ONNX file, an OpenVINO IR, or a bundle as a ZIP or a folder. The errors
// of core::Model::from_file(), core::Package::open() and embedding::model_of_bundle().
[[nodiscard]] core::Result<core::Model> open_model(const std::filesystem::path& place);

// Reads the model's folder and loads the model, for vectors of texts or of tokens. `runtime` must outlive the embedder.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_embedder(
    const std::filesystem::path& folder, const Runtime& runtime,
    std::function<void(const embedding::BatchRecord&)> on_batch = {}, bool token_vectors = false);

// The network of a model of this kind, or of any: embedding::CrossEncoder::of() makes one of what is such a network. Of
// a router, with a role, for such texts alone.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(
    const std::filesystem::path& folder, const Runtime& runtime, std::optional<embedding::EncoderKind> kind,
    std::function<void(const embedding::BatchRecord&)> on_batch = {}, embedding::TextRole role = {});

}  // namespace latebind::app
