// Manifest: the small JSON file by which a plug-in is found. docs/plugins.md describes it for people.
//
//   {"format": 1, "name": "toy", "library": "libtoy.so", "contract": {"least": 1, "most": 1},
//    "platform": "linux-x86_64", "version": "1.2", "description": "adds in a loop"}
//
// Unknown keys are ignored, so that later versions can add some; a known key of the wrong type is an error that names
// it. Pure functions and values, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::plugin {

inline constexpr int kManifestFormat = 1;
inline constexpr std::size_t kManifestBytesMax = std::size_t{64} << 10;

struct Manifest {
  std::string name;     // of the backend: see is_backend_name()
  std::string library;  // with '/' between the parts; relative to the manifest's folder unless it is a full path
  // The plug-in speaks all versions of the contract between these two.
  std::uint32_t contract_least = 0;
  std::uint32_t contract_most = 0;
  std::string platform;     // as platform::platform_name(): "linux-x86_64"
  std::string version;      // of the plug-in, for people; may be empty
  std::string description;  // for people, one line; may be empty

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Whether a backend may have this name: a lower-case letter, then lower-case letters, digits and '_', at most 32 in
// all.
[[nodiscard]] bool is_backend_name(std::string_view name);

// Reads a manifest. kInvalidModel, with `file`, the manifest's name for messages, and the mistake.
[[nodiscard]] core::Result<Manifest> parse_manifest(std::string_view text, std::string_view file);

[[nodiscard]] core::Json to_json(const Manifest& manifest);

}  // namespace latebind::plugin
