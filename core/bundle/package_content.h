// The content of a package in the form that a PackageWriter takes: whole variants, however they are stored. Pure
// functions, for any thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/bundle/package.h"
#include "core/bundle/package_writer.h"
#include "core/result.h"

namespace latebind::core {

// Returns the files of a folder of the package, where `all` are all files of the package. kUnsupported for a folder
// outside of it.
[[nodiscard]] Result<std::vector<PackageFile>> content_of_folder(const PackageFiles& files,
                                                                 std::span<const PackageFiles::File> all,
                                                                 const std::string& folder);

// Returns the shared assets that exist only because blobs are stored as differences from them (share_blobs.h).
[[nodiscard]] std::set<std::string> assets_of_differences(const Package& package);

// Returns a variant with all of its files. `sources` are assets_of_differences(). Fails as Package::open_file() does.
[[nodiscard]] Result<VariantInput> whole_variant(const Package& package, std::span<const PackageFiles::File> all,
                                                 const std::set<std::string>& sources, const Variant& variant);

}  // namespace latebind::core
