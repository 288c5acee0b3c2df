// The input of `compile`: a model of any kind, or a bundle to which variants are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/client.h"
#include "core/bundle/package.h"
#include "core/model/model.h"
#include "core/result.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"

namespace latebind::app {

// The model to compile and what else goes into the bundle.
struct CompileInput {
  core::Model model;
  std::optional<core::Package> added_to;         // the bundle being extended
  std::string state{};                           // the identity of that bundle: package_identity.h
  std::uint64_t bytes = 0;                       // of the model
  std::optional<embedding::ModelFolder> folder;  // of an embedding model
  std::optional<embedding::GraphModel> graph;
  std::size_t inputs = 0;   // the number of inputs of an embedding model
  std::size_t longest = 0;  // its longest input, in tokens
};

// Reads `model`, a path or a name on the hub. With `add` it must be a bundle; otherwise it must not be one. `onnx_file`
// is that of embedding::FolderOptions, for a model folder.
[[nodiscard]] core::Result<CompileInput> read_compile_input(const std::string& model, bool add,
                                                            const std::string& onnx_file, const Client& client);

}  // namespace latebind::app
