// Manifest: what a model package says about itself, typed (ONNX Runtime's format, schema 1.0; facts and examples are in
// docs/bundle-format.md).
//
// Reading resolves what the format lets an author write in several ways: components in separate files, executor_info in
// separate files, directories that are omitted; every path in a Manifest is relative to the package. Writing gives one
// form only: everything inline, keys sorted, so that the same manifest is the same text.
//
// Plain values. Pure functions except for reading the package's files; any thread.
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
#include "core/json.h"
#include "core/result.h"

namespace latebind::core {

inline constexpr const char* kManifestFile = "manifest.json";
// ONNX Runtime's slot in `executor_info`, what it loads from there, and its provider for CPUs.
inline constexpr const char* kHostSlot = "ort";
inline constexpr const char* kHostModelFile = "model_file";
inline constexpr const char* kHostCpuProvider = "CPUExecutionProvider";

// Portable: all paths stay in the package. Installed: they may lead anywhere on this machine.
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
  // Its folder in the package. Empty when the manifest names none and no folder has the variant's name.
  std::optional<std::string> folder;
  std::string ep;                    // a provider's name; empty: not given
  std::string device;                // "cpu", "gpu", "npu"; empty: not given
  std::string compatibility_string;  // only the provider understands it
  std::optional<LatebindInfo> latebind;
  std::map<std::string, nlohmann::json> executor_info;  // the other consumers' slots, each an object
  nlohmann::json additional_metadata;                   // null: none

  friend bool operator==(const Variant&, const Variant&) = default;
};

struct Component {
  std::string name;
  std::string folder;             // what its variants' folders are relative to; "" is the root
  std::vector<Variant> variants;  // sorted by name
  nlohmann::json additional_metadata;

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
  std::map<std::string, std::string> shared_assets;  // "sha256:<hex>" to its folder, where it is not the usual place
  nlohmann::json additional_metadata;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

enum class InstalledLayout { kRefused, kAllowed };

// Reads manifest.json and the files that it refers to. kInvalidModel (with file and place) for what does not follow the
// format: another major version, a key that is not known (a newer minor version may have them), a wrong type, a
// directory or file that is missing, a path that leads out, more than the limits; kUnsupported for an installed layout
// that is not allowed; kNotFound without manifest.json.
[[nodiscard]] Result<Manifest> read_manifest(const PackageFiles& files,
                                             InstalledLayout installed = InstalledLayout::kRefused);

// The text of manifest.json. kInvalidArgument for text that is not UTF-8.
[[nodiscard]] Result<std::string> manifest_text(const Manifest& manifest);

}  // namespace latebind::core
