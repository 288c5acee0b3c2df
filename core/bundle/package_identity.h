// What tells a bundle from others: which model it is of and what it is compiled for, and whether it is still what it
// was. Not the name of its file, its size or its age.
//
// Both are taken from what the bundle records of its files, whose sums are compared when they are used: so nothing else
// is read. Any thread.
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
  // SHA-256 of what is recorded of the portable model's files: the same in every bundle of that model, whatever it is
  // compiled for. 64 hexadecimal digits.
  std::string model;
  std::vector<std::string> variants;  // names of the others, sorted
  // SHA-256 of both, and of the versions that compiled them. Not of the blobs: a vendor may make other bytes each time.
  std::string digest;
};

// Of a bundle in one file, with what identifies that file. The errors of Package::open(); kInvalidModel for anything
// but a ZIP, and for a bundle whose portable model has no sums, as others may write it.
struct BundleFileContent {
  BundleContent content;
  platform::FileIdentity file;
};
[[nodiscard]] Result<BundleFileContent> content_of_bundle_file(const std::filesystem::path& file);

// Of a ZIP in memory; `name` is for messages.
[[nodiscard]] Result<BundleContent> content_of_bundle(std::span<const std::byte> bytes, const std::string& name);

// Ok when every file of the bundle is as recorded; reads all of it.
[[nodiscard]] Status check_bundle_file(const std::filesystem::path& file);

// SHA-256 of the manifest, and of the name, the size and, in a ZIP, the checksum of every file: another one after any
// change, of a folder after any change of sizes and records.
[[nodiscard]] Result<std::string> state_of(const PackageFiles& files);
// Of the bundle, file or folder, at a place. The errors of PackageFiles::open() as well.
[[nodiscard]] Result<std::string> state_of_bundle(const std::filesystem::path& place);

}  // namespace latebind::core
