// The identity of a bundle: which model it has and what it is compiled for, and whether it is unchanged. It is
// independent of the file's name, size and age.
//
// It is computed from what the bundle records about its files, whose checksums are compared when they are used, so only
// the manifest is read. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/bundle/package_files.h"
#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::core {

struct BundleContent {
  // SHA-256 of what is recorded about the portable model's files, 64 hexadecimal digits. It is the same in every bundle
  // of that model, whatever it is compiled for.
  std::string model;
  std::vector<std::string> variants;  // names of the other variants, sorted
  // SHA-256 of both, and of the versions that compiled the variants. It does not cover the blobs, because a vendor may
  // produce other bytes each time.
  std::string digest;
};

// The content of a bundle in one file, with the file's identity.
struct BundleFileContent {
  BundleContent content;
  platform::FileIdentity file;
};
// Reads the content of a bundle in one file. Fails as Package::open() does; kInvalidModel for anything but a ZIP, and
// for a bundle whose portable model has no recorded digests, as other programs may write it.
[[nodiscard]] Result<BundleFileContent> content_of_bundle_file(const std::filesystem::path& file);

// Reads the content of a ZIP in memory; `name` is for messages.
[[nodiscard]] Result<BundleContent> content_of_bundle(std::span<const std::byte> bytes, const std::string& name);

// Reads all of the bundle and returns ok when every file matches its record.
[[nodiscard]] Status check_bundle_file(const std::filesystem::path& file);

// Returns the SHA-256 of the manifest, and of the name, the size and, in a ZIP, the checksum of every file. It changes
// with any change of a ZIP, and with any change of sizes and records in a folder.
[[nodiscard]] Result<std::string> state_of(const PackageFiles& files);
// Returns state_of() for the bundle, file or folder, at a place. Also fails as PackageFiles::open() does.
[[nodiscard]] Result<std::string> state_of_bundle(const std::filesystem::path& place);

}  // namespace latebind::core
