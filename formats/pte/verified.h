// The flatbuffer of a .pte that has passed flatbuffers' verifier: every offset in it can be followed. For the files of
// this folder. Refers to the bytes it was made from; any thread.
#pragma once

#include <program_generated.h>

#include <cstddef>
#include <span>

#include "core/result.h"
#include "formats/pte/layout.h"

namespace latebind::pte {

// Tables that the verifier follows, and how deep.
inline constexpr unsigned kTablesMax = 1U << 20U;
inline constexpr unsigned kDepthMax = 64;

struct VerifiedProgram {
  Layout layout;
  const executorch_flatbuffer::Program* root = nullptr;
  std::span<const std::byte> file;
};

// The errors of read_program().
[[nodiscard]] core::Result<VerifiedProgram> verify_program(std::span<const std::byte> file);

}  // namespace latebind::pte
