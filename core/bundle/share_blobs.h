// Stores what the blobs of a bundle have in common only once: of blobs that are nearly the same, one becomes a shared
// asset, and the others are stored as differences from it.
//
// Vendors' compilers put a model's weights into every blob, for each length and each architecture. The common parts are
// found in the bytes, without any knowledge of the vendor, and each blob is restored exactly as its compiler made it.
// Only blobs that are copied when they are loaded take part (LatebindInfo::is_copied). Pure functions, for any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bundle/package_writer.h"

namespace latebind::core {

// Variants by name, with their files recorded, and shared assets by URI.
using Variants = std::map<std::string, VariantInput>;
using Assets = std::map<std::string, std::vector<PackageFile>>;

// Replaces files of `variants` by differences, and adds the files they are from to `assets`. The result depends only on
// names and contents.
void share_blobs(Variants& variants, Assets& assets);

}  // namespace latebind::core
