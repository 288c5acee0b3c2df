// Writes a ZIP whose entries can be used straight from a mapping of it: stored, and the data of each begins at a
// multiple of 4096. The padding is an extra field in the local headers, as Android's zipalign writes it, so that every
// reader of ZIPs reads the file. Times, modes and versions are fixed: the same input gives the same bytes.
//
// Any thread; several may write the same place at once, and the last one wins whole.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// A file (its content is the parts, one after the other), or an empty folder when the name ends in a slash.
struct ZipInput {
  std::string name;
  std::vector<SharedBytes> parts{};
};

struct ZipWriteOptions {
  // Writes Zip64 records also where the numbers are small, so that tests need not write 4 GiB.
  bool always_zip64 = false;
};

// Writes the entries in their order, by temporary file and rename: after an error, or killed at any moment, the place
// keeps what it had. Temporary files that killed writers left in the folder a minute ago or earlier are removed. The
// errors of OutputFile; kInvalidArgument for names that path_rules.h refuses, and for more than a reader would read.
[[nodiscard]] Status write_zip(const std::filesystem::path& file, std::span<const ZipInput> entries,
                               const ZipWriteOptions& options = {});

}  // namespace latebind::core
