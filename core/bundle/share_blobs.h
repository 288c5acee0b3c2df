// Sharing among the blobs of a bundle: of blobs that are nearly the same one becomes a shared asset, and the others are
// stored as differences from it.
//
// Vendors' compilers put a model's weights into every blob: those for several lengths, and those for several
// architectures. What they have in common is found in the bytes, so that nothing of a vendor is known here, and each
// blob becomes again the very one that its compiler made. Only blobs that are copied when they are loaded take part
// (LatebindInfo::is_copied). Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bundle/package_writer.h"

namespace latebind::core {

// Variants by name, with their files recorded, and shared assets by URI.
using Variants = std::map<std::string, VariantInput>;
using Assets = std::map<std::string, std::vector<PackageFile>>;

// Replaces files of `variants` by differences, and adds to `assets` what they are from. The result depends on names and
// contents alone.
void share_blobs(Variants& variants, Assets& assets);

}  // namespace latebind::core
