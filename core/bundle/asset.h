// Shared assets: folders of a package that are named by their content, so that several variants (and several packages)
// can refer to one copy. "sha256:<64 digits>" is the folder, "sha256:<64 digits>/a/b" a file in it.
//
// The digits are the SHA-256 of one line for each file, sorted by path: the file's own SHA-256, two spaces, its path in
// the folder, a line end. Pure functions, for any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::core {

// Whether the text is 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256(std::string_view text);
// Whether the text begins like a reference to an asset.
[[nodiscard]] bool is_asset_ref(std::string_view text);

struct AssetRef {
  std::string uri;   // "sha256:<64 digits>"
  std::string path;  // of a file in it; "" is the asset itself
};

// Parses a reference. kInvalidModel, with `where` before the message.
[[nodiscard]] Result<AssetRef> parse_asset_ref(std::string_view reference, std::string_view where);

// Returns where an asset is unless the manifest says otherwise: "shared_assets/sha256-<64 digits>".
[[nodiscard]] std::string default_asset_folder(std::string_view uri);
// Returns the URI for the name of a folder in "shared_assets"; "" for any other name.
[[nodiscard]] std::string asset_uri_of_folder(std::string_view name);

// Returns the asset's URI. `files` maps each path in it to the SHA-256 of the file.
[[nodiscard]] std::string asset_uri(const std::map<std::string, std::string>& files);

}  // namespace latebind::core
