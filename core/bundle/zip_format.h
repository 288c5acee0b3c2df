// The constants of the ZIP format that its reader and its writer share (names as in PKWARE's APPNOTE.TXT). Internal to
// core/bundle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace latebind::core::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034B50;
inline constexpr std::uint32_t kCentralSignature = 0x02014B50;
inline constexpr std::uint32_t kEndSignature = 0x06054B50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064B50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064B50;

inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;

// A field with this value has its actual one in a Zip64 record.
inline constexpr std::uint16_t kElsewhere16 = 0xFFFF;
inline constexpr std::uint32_t kElsewhere32 = 0xFFFFFFFF;

inline constexpr std::uint16_t kFlagEncrypted = 1U << 0U;
inline constexpr std::uint16_t kFlagDataDescriptor = 1U << 3U;
inline constexpr std::uint16_t kFlagUtf8 = 1U << 11U;

inline constexpr std::uint16_t kMethodStored = 0;

inline constexpr std::uint16_t kExtraZip64 = 0x0001;
// A second name, which other readers may use instead of the first.
inline constexpr std::uint16_t kExtraUnicodePath = 0x7075;
// Padding in front of the data, as Android's zipalign writes it: the alignment (2 bytes), then zeros.
inline constexpr std::uint16_t kExtraAlignment = 0xD935;

// The offset of each entry's data is a multiple of this, so that it begins at a page of a mapping.
inline constexpr std::size_t kAlignment = 4096;

// The Unix mode is in the upper half of the external attributes.
inline constexpr std::uint32_t kModeType = 0170000;
inline constexpr std::uint32_t kModeRegular = 0100000;
inline constexpr std::uint32_t kModeFolder = 0040000;
inline constexpr std::uint32_t kDosVolume = 0x08;
inline constexpr std::uint32_t kDosFolder = 0x10;

inline constexpr std::size_t kEntriesMax = 20'000;
inline constexpr std::size_t kDirectoryBytesMax = std::size_t{8} << 20;

}  // namespace latebind::core::zip
