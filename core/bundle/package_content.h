// What is in a package, as a PackageWriter takes it: variants whole, whatever form they are stored in. Pure functions;
// any thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/bundle/package.h"
#include "core/bundle/package_writer.h"
#include "core/result.h"

namespace latebind::core {

// The files of a folder of the package; `all` are all its files. kUnsupported for a folder outside of it.
[[nodiscard]] Result<std::vector<PackageFile>> content_of_folder(const PackageFiles& files,
                                                                 std::span<const PackageFiles::File> all,
                                                                 const std::string& folder);

// The shared assets that are there only because blobs are stored as differences from them (share_blobs.h).
[[nodiscard]] std::set<std::string> assets_of_differences(const Package& package);

// A variant with all of its files; `sources`: assets_of_differences(). The errors of Package::open_file().
[[nodiscard]] Result<VariantInput> whole_variant(const Package& package, std::span<const PackageFiles::File> all,
                                                 const std::set<std::string>& sources, const Variant& variant);

}  // namespace latebind::core
