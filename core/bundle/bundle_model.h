// Makes a Model from a bundle: its portable form, checked before it is compiled, and its blobs. May be called from any
// thread.
#pragma once

#include <filesystem>

#include "core/bundle/package.h"
#include "core/model/model.h"

namespace latebind::core {

// Whether Package::open() is the way to open the place: a ZIP, or a folder with a manifest.
[[nodiscard]] bool is_bundle(const std::filesystem::path& place);

// Returns the portable model in the format that it has in the bundle; its forms refer to the bundle's pages.
// kInvalidModel for a bundle that has neither a portable model nor blobs that Latebind can load.
[[nodiscard]] Result<Model> model_of_bundle(const Package& package);

}  // namespace latebind::core
