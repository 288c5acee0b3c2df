// Manifest: the typed content of a model package's manifest (ONNX Runtime's format, schema 1.0; docs/bundle-format.md
// has facts and examples).
//
// Reading resolves the alternatives that the format allows: components in separate files, executor_info in separate
// files, omitted directories. Every path in a Manifest is relative to the package. Writing produces one form only:
// everything inline and keys sorted, so that equal manifests give equal text.
//
// Plain values. Pure functions, except for reading the package's files; for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/latebind_info.h"
#include "core/bundle/package_files.h"
#include "core/config.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

inline constexpr const char* kManifestFile = "manifest.json";
// ONNX Runtime's slot in `executor_info`, the key of the model file in it, and ONNX Runtime's provider for CPUs.
inline constexpr const char* kHostSlot = "ort";
inline constexpr const char* kHostModelFile = "model_file";
inline constexpr const char* kHostCpuProvider = "CPUExecutionProvider";

// In a portable package all paths stay in the package. In an installed one they may lead anywhere on this machine.
enum class PackageLayout : std::int32_t { kPortable = 0, kInstalled = 1 };
template <>
struct Words<PackageLayout> {
  static constexpr std::string_view kWhat = "layout";
  static constexpr std::array kWords{Word<PackageLayout>{"portable", PackageLayout::kPortable},
                                     Word<PackageLayout>{"installed", PackageLayout::kInstalled}};
};

// One entry of a bundle: a model for one device, or the portable one.
struct Variant {
  std::string name;
  // Its folder in the package. std::nullopt when the manifest names none and no folder has the variant's name.
  std::optional<std::string> folder;
  std::string ep;                    // a provider's name; empty when not given
  std::string device;                // "cpu", "gpu", "npu"; empty when not given
  std::string compatibility_string;  // only the provider understands it
  std::optional<LatebindInfo> latebind;
  std::map<std::string, Json> executor_info;  // the other consumers' slots, each an object
  Json additional_metadata;                   // null if absent

  friend bool operator==(const Variant&, const Variant&) = default;
};

struct Component {
  std::string name;
  std::string folder;             // its variants' folders are relative to this; "" is the root
  std::vector<Variant> variants;  // sorted by name
  Json additional_metadata;

  friend bool operator==(const Component&, const Component&) = default;
};

struct Manifest {
  static constexpr std::size_t kMajor = 1;

  std::size_t schema_minor = 0;
  std::string package_name;
  std::string package_version;
  std::string description;
  PackageLayout layout = PackageLayout::kPortable;
  std::vector<Component> components;                 // sorted by name
  std::map<std::string, std::string> shared_assets;  // from "sha256:<hex>" to its folder, for those in unusual places
  Json additional_metadata;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

enum class InstalledLayout { kRefused, kAllowed };

// Reads manifest.json and the files that it refers to. kNotFound without manifest.json; kUnsupported for an installed
// layout that is not allowed; kInvalidModel, with file and place, for a manifest that does not follow the format:
// another major version, an unknown key (which a newer minor version may have), a wrong type, a missing directory or
// file, a path that leads out of the package, or an exceeded limit.
[[nodiscard]] Result<Manifest> read_manifest(const PackageFiles& files,
                                             InstalledLayout installed = InstalledLayout::kRefused);

// Returns the text of manifest.json. kInvalidArgument for text that is not UTF-8.
[[nodiscard]] Result<std::string> manifest_text(const Manifest& manifest);

}  // namespace latebind::core
