// What an OpenVINO blob looks like from outside, without the library: recognised by its first bytes, and by the lengths
// that it declares for its parts.
//
// The layouts are those that 2024.6 to 2026.4 write (observed, not documented): the CPU's is three parts, one after the
// other, after a table of their offsets and sizes, since 2026.1 with a label before it; the NPU's is an ELF file. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.h"

namespace latebind::openvino {

// True when the bytes begin like a CPU or NPU blob.
[[nodiscard]] bool looks_like_blob(std::span<const std::byte> bytes);

// kInvalidModel when a CPU blob is truncated, or has parts in the wrong place: the vendor would read past its end. The
// vendor checks the content of the parts.
[[nodiscard]] core::Status check_blob(std::span<const std::byte> bytes);

}  // namespace latebind::openvino
