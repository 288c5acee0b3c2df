// Recognises OpenVINO blobs without the library, by their first bytes and the declared lengths of their parts.
//
// The layouts are those that 2024.6 to 2026.4 write; they are observed, not documented. A CPU blob is a table of
// offsets and sizes followed by three consecutive parts; since 2026.1, a label precedes the table. An NPU blob is an
// ELF file. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.h"

namespace latebind::openvino {

// Whether the bytes begin like a CPU or NPU blob.
[[nodiscard]] bool looks_like_blob(std::span<const std::byte> bytes);

// Returns kInvalidModel if a CPU blob is truncated or has misplaced parts: the vendor would read past its end. The
// vendor checks the contents of the parts.
[[nodiscard]] core::Status check_blob(std::span<const std::byte> bytes);

}  // namespace latebind::openvino
