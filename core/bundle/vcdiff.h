// VCDIFF (RFC 3284): a file as its difference from another one, the source. Bundles keep blobs so that are nearly the
// same, such as those of one model for several lengths.
//
// Of the format everything is read but secondary compression, code tables of a file's own, and what others have added
// to it (headers of applications, checksums): those are rejected. What is written is plain RFC 3284, so that other
// decoders read it. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::core {

// The difference that makes `target` of `source`. The same input gives the same bytes. Takes about a second for each
// 100 MB and an index of a sixteenth of the source. Nothing when it would be longer than `bytes_max`, or a file has
// more than 4 GiB.
[[nodiscard]] std::optional<std::string> vcdiff_of(std::span<const std::byte> source, std::span<const std::byte> target,
                                                   std::size_t bytes_max);

// Fills all of `target`, from bytes that may be anything. kInvalidModel, with `where` before the message, for what is
// no difference, refers outside of `source`, or makes another number of bytes; `target` may have any content then.
[[nodiscard]] Status apply_vcdiff(std::span<const std::byte> source, std::span<const std::byte> difference,
                                  std::span<std::byte> target, std::string_view where);

}  // namespace latebind::core
