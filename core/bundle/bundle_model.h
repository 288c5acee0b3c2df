// The model of a bundle, whatever it computes: its portable form, checked before it is compiled, and its blobs.
#pragma once

#include <filesystem>

#include "core/bundle/package.h"
#include "core/model.h"

namespace latebind::core {

// True for a ZIP, and for a folder with a manifest: what Package::open() is for.
[[nodiscard]] bool is_bundle(const std::filesystem::path& place);

// The portable model in the format that it has in the bundle; its forms refer to the bundle's pages. kInvalidModel for
// a bundle with neither a portable model nor blobs that Latebind can load.
[[nodiscard]] Result<Model> model_of_bundle(const Package& package);

}  // namespace latebind::core
