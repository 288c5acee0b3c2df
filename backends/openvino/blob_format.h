// What a blob of OpenVINO looks like from outside, without the library: told by its first bytes, and by the lengths
// that it says its parts have.
//
// The layouts are those that 2024.6 to 2026.4 write (seen, not documented): the CPU's is three parts, one after the
// other, behind a table of their offsets and sizes, since 2026.1 with a label before it; the NPU's is an ELF file. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.h"

namespace latebind::openvino {

// True when the bytes begin as a blob of the CPU's or the NPU's does.
[[nodiscard]] bool looks_like_blob(std::span<const std::byte> bytes);

// kInvalidModel when a blob of the CPU's is cut off, or has parts that do not lie where they should: the vendor would
// read past its end. What is inside of the parts is the vendor's to check.
[[nodiscard]] core::Status check_blob(std::span<const std::byte> bytes);

}  // namespace latebind::openvino
