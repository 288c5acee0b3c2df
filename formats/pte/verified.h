// VerifiedProgram: the flatbuffer of a .pte that has passed flatbuffers' verifier, so that every offset in it can be
// followed. It refers to the bytes of the file. Used only within this folder; any thread.
#pragma once

#include <program_generated.h>

#include <cstddef>
#include <span>

#include "core/result.h"
#include "formats/pte/layout.h"

namespace latebind::pte {

// The verifier's limits for tables and their depth.
inline constexpr unsigned kTablesMax = 1U << 20U;
inline constexpr unsigned kDepthMax = 64;

struct VerifiedProgram {
  Layout layout;
  const executorch_flatbuffer::Program* root = nullptr;
  std::span<const std::byte> file;
};

// Returns the errors of read_program().
[[nodiscard]] core::Result<VerifiedProgram> verify_program(std::span<const std::byte> file);

}  // namespace latebind::pte
