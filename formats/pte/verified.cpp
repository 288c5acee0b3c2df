#include "formats/pte/verified.h"

#include <cstdint>

namespace latebind::pte {

using core::Result;
using core::Status;
using core::StatusCode;

Result<VerifiedProgram> verify_program(std::span<const std::byte> file) {
  constexpr std::uintptr_t kAlignment = 16;
  if (reinterpret_cast<std::uintptr_t>(file.data()) % kAlignment != 0) {
    return Status(StatusCode::kInvalidArgument, "a program must lie at an address that is a multiple of 16");
  }
  LB_ASSIGN_OR_RETURN(const Layout layout, read_layout(file));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  flatbuffers::Verifier verifier(bytes, static_cast<std::size_t>(layout.program_size), kDepthMax, kTablesMax);
  if (!executorch_flatbuffer::VerifyProgramBuffer(verifier)) {
    return Status(StatusCode::kInvalidModel,
                  "the flatbuffer of the program is damaged, or has more tables than any real one: an offset in it "
                  "leads nowhere");
  }
  return VerifiedProgram{layout, executorch_flatbuffer::GetProgram(bytes), file};
}

}  // namespace latebind::pte
