// VCDIFF (RFC 3284): a file as its difference from another one, the source. Bundles use it for blobs that are nearly
// the same, such as those of one model for several lengths.
//
// The reader supports everything but secondary compression, custom code tables, and extensions of other programs
// (application headers, checksums), which it rejects. The writer produces plain RFC 3284, which other decoders can
// read. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::core {

// Returns the difference that makes `target` from `source`; the same input gives the same bytes. Takes about a second
// for each 100 MB, and memory for an index of a sixteenth of the source. std::nullopt when the difference would be
// longer than `bytes_max`, or a file has more than 4 GiB.
[[nodiscard]] std::optional<std::string> vcdiff_of(std::span<const std::byte> source, std::span<const std::byte> target,
                                                   std::size_t bytes_max);

// Fills all of `target` from untrusted bytes. kInvalidModel, with `where` before the message, if they are not a
// difference, refer outside of `source`, or make another number of bytes; `target` is then unspecified.
[[nodiscard]] Status apply_vcdiff(std::span<const std::byte> source, std::span<const std::byte> difference,
                                  std::span<std::byte> target, std::string_view where);

}  // namespace latebind::core
