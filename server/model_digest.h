// What tells one model's files from another's, and how large they are: for protocols that list both.
//
// Not for trust: of a large file samples are read, so that the start of a daemon does not wait for gigabytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace latebind::server {

struct ModelDigest {
  std::string hex;          // SHA-256, 64 digits
  std::uint64_t bytes = 0;  // of all files
};

// Of a folder, a bundle or a file: names, sizes and contents of its files, at most 10000, without hidden ones and those
// below hidden folders. It is the same wherever the files are. What cannot be read counts as empty. `commit` stands for
// the contents where it is known.
[[nodiscard]] ModelDigest digest_of_model(const std::filesystem::path& place, const std::string& commit);

}  // namespace latebind::server
