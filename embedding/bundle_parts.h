// The parts of an embedding model in a bundle: one shared asset with the small files, another with the weights, and the
// portable model, an ONNX file that refers to the weights.
#pragma once

#include "core/bundle/package_writer.h"
#include "core/result.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"

namespace latebind::embedding {

// Adds both assets and the variant "portable" to `writer`, under core::kModelComponent. `graph` is build_model() of the
// documents' specification. Returns kUnsupported for a ready ONNX file with its data in other files.
[[nodiscard]] core::Status add_portable(const ModelFolder& folder, const GraphModel& graph,
                                        core::PackageWriter& writer);

// Returns the model's name, and its source, revision and licence as far as the folder names them (the hub's cache and
// the README's front matter).
[[nodiscard]] core::PackageHead package_head(const ModelFolder& folder);

}  // namespace latebind::embedding
