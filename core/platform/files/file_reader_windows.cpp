#include "core/platform/files/file_reader.h"

namespace latebind::platform {

core::Result<std::unique_ptr<const FileReader>> FileReader::open(const std::filesystem::path& /*file*/,
                                                                 const FileIdentity& /*identity*/) {
  return core::Status(core::StatusCode::kUnsupported, "Windows cannot truncate mapped files");
}

FileReader::~FileReader() = default;

bool FileReader::read(std::uint64_t /*offset*/, std::span<std::byte> /*to*/) const noexcept {
  return false;
}

core::Status FileReader::why_not() const {
  return {};
}

}  // namespace latebind::platform
