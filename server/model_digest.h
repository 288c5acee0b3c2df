// The identity and the size of a model's files, for protocols that list them.
//
// The digest is not a security measure: large files are sampled, so that a daemon does not read gigabytes when it
// starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace latebind::server {

struct ModelDigest {
  std::string hex;          // SHA-256, 64 digits
  std::uint64_t bytes = 0;  // of all files
};

// Digests a folder, a bundle or a file: the names, sizes and contents of at most 10000 files, without hidden files and
// folders. The location does not matter. Unreadable files count as empty. A known `commit` replaces the contents.
[[nodiscard]] ModelDigest digest_of_model(const std::filesystem::path& place, const std::string& commit);

}  // namespace latebind::server
