// Finds the records of a ZIP that torch.save() wrote, without reading them. The directory at the end of the file
// decides; torch writes local headers without sizes, and pads records to 64 bytes.
//
// Source: PKWARE's APPNOTE.TXT, Zip64 included. core/bundle has a stricter reader, for bundles. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/part_reader.h"
#include "core/result.h"

namespace latebind::embedding {

struct ZipRecord {
  std::string name;
  std::uint64_t offset = 0;  // of its bytes in the file
  std::uint64_t size = 0;
  unsigned method = 0;  // of compression; 0: the bytes are the content
};

// `size` is the size of the file. Returns kInvalidModel for a damaged file, kUnsupported for an encrypted record, and
// the reader's error.
[[nodiscard]] core::Result<std::vector<ZipRecord>> read_zip_records(const core::PartReader& file, std::uint64_t size);

}  // namespace latebind::embedding
