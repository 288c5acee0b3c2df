#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

#include "core/platform/files/mapped_file.h"
#include "core/platform/library_image.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

Status check_library_is_whole(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  if (!mapped.ok()) return Status();
  const std::span<const std::byte> bytes = mapped->bytes();

  ElfW(Ehdr) header{};
  if (bytes.size() < sizeof(header)) return Status();
  std::memcpy(&header, bytes.data(), sizeof(header));
  constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  constexpr unsigned char kOwnOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  const bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kOwnClass &&
                    header.e_ident[EI_DATA] == kOwnOrder && header.e_phentsize == sizeof(ElfW(Phdr));
  if (!ours) return Status();

  const std::size_t size = bytes.size();
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    const std::size_t place = i * sizeof(segment);
    if (header.e_phoff > size || size - header.e_phoff < place + sizeof(segment)) {
      return Status();  // the loader reports that the file is too short for its headers
    }
    std::memcpy(&segment, bytes.data() + header.e_phoff + place, sizeof(segment));
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) {
      return Status(StatusCode::kLibraryUnusable,
                    fmt::format("{} is truncated: it has {} bytes, but its headers declare {} at {}; install it again",
                                quoted(file), size, segment.p_filesz, segment.p_offset));
    }
  }
  return Status();
}

}  // namespace latebind::platform
