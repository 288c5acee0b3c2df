// The functions of this folder for builds without ExecuTorch's schema: they report what is missing.
#include "formats/pte/converter.h"
#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::pte {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

Status missing() {
  return {StatusCode::kUnsupported,
          "this build of Latebind cannot read or write programs of ExecuTorch (.pte), because it was built without "
          "ExecuTorch's schema; run scripts/setup executorch and build again, or install a package that includes it"};
}

}  // namespace

bool is_built_in() {
  return false;
}

Status write_program(const ProgramSpec& /*spec*/, const Payload& /*payload*/, const Sink& /*sink*/) {
  return missing();
}

Result<std::string> program_bytes(const ProgramSpec& /*spec*/, std::string_view /*payload*/) {
  return missing();
}

Result<Convertible> inspect_conversion(std::span<const std::byte> /*file*/, const Conversion& /*conversion*/) {
  return missing();
}

Status convert_program(std::span<const std::byte> /*file*/, const Conversion& /*conversion*/, const Sink& /*sink*/) {
  return missing();
}

Result<Program> read_program(std::span<const std::byte> /*file*/) {
  return missing();
}

}  // namespace latebind::pte
