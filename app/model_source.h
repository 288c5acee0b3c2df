// Opens models given by folder, by file or by name on the hub. No other file distinguishes these.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/client.h"
#include "app/runtime.h"
#include "core/model/model.h"
#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/snapshot.h"

namespace latebind::app {

// Resolves a model argument to a path. An existing path wins. Otherwise ORG/NAME, a short NAME, and either with
// @REVISION are names on the hub, which are downloaded if the cache lacks them. Anything else is returned as a path,
// and opening it reports the error. `onnx_file` is downloaded instead of the weights unless it is empty. `output`, the
// name of the wanted output, selects among short names (hub::ModelName::parse()): those of dense models by default.
[[nodiscard]] core::Result<std::filesystem::path> find_model(const std::string& model, const std::string& onnx_file,
                                                             const Client& client, std::string_view output = {});

// Downloads what the cache lacks. `doubt` is that of hub::SnapshotOptions.
[[nodiscard]] core::Result<embedding::hub::Snapshot> pull_model(const embedding::hub::ModelName& name,
                                                                const std::string& onnx_file, const Client& client,
                                                                embedding::hub::CachedContent content,
                                                                const std::string& doubt = {});

// Returns the options for reading a model folder. If the base of an adapter is a name on the hub, find_model()
// finds it.
[[nodiscard]] embedding::FolderOptions folder_options(const std::string& onnx_file = {}, const Client& client = {});

// If the model in `folder` is an adapter, finds its base with find_model().
[[nodiscard]] core::Status find_base_of(const std::filesystem::path& folder, const Client& client);

// Reads a model folder. Returns the errors of embedding::ModelFolder::open(), extended by hub::with_damage(), as do all
// functions here that open a model.
[[nodiscard]] core::Result<embedding::ModelFolder> open_folder(const std::filesystem::path& folder,
                                                               const std::string& onnx_file);

// Opens a model that is not used for texts: an ONNX file, an OpenVINO IR, or a bundle as a ZIP or a folder. Returns the
// errors of core::Model::from_file(), core::Package::open() and embedding::model_of_bundle().
[[nodiscard]] core::Result<core::Model> open_model(const std::filesystem::path& place);

struct OpenOptions {
  std::vector<std::string> outputs{};                            // see EncoderOptions
  embedding::TextRole role = embedding::TextRole::kUnspecified;  // see EmbedderOptions
  std::function<void(const embedding::BatchRecord&)> on_batch{};
};
// Loads a model that takes texts or pairs of texts; embedding::CrossEncoder::of() and its like wrap it. `runtime` must
// outlive the result.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(const std::filesystem::path& folder,
                                                                              const Runtime& runtime,
                                                                              OpenOptions options = {});
// The same for a folder that was read already.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(const embedding::ModelFolder& folder,
                                                                              const Runtime& runtime,
                                                                              OpenOptions options = {});

}  // namespace latebind::app
