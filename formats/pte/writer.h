// Writes a program (.pte) with one method and one call of a delegate, without PyTorch.
//
//   ProgramSpec spec;
//   spec.inputs = {{.name = "x", .type = ScalarType::kF32, .sizes = {8, 16}, .is_dynamic = true}};
//   spec.outputs = {{.name = "y", .type = ScalarType::kF32, .sizes = {8, 4}, .is_dynamic = true}};
//   Status status = write_program(spec, Payload::of(bytes), sink);
//
// The method takes and returns the tensors in the order of `inputs` and `outputs`; the delegate's arguments are the
// inputs followed by the outputs. The payload is a separate segment, aligned so that it can be used directly from a
// mapping of the file, and is streamed from its source to the sink. Equal inputs give equal bytes. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "formats/pte/program.h"

namespace latebind::pte {

struct TensorSpec {
  std::string name{};
  ScalarType type = ScalarType::kF32;
  std::vector<std::int32_t> sizes{};  // upper bounds if dynamic; empty: rank 0
  bool is_dynamic = false;            // whether it may be smaller than `sizes` at run time
  // Dimensions from the outermost to the innermost in memory; empty: row-major.
  std::vector<std::uint8_t> dim_order{};
};

struct CompileSpec {
  std::string key{};
  std::string value{};  // bytes
};

struct ProgramSpec {
  std::string method = "forward";
  std::string backend{kBackendId};
  std::vector<TensorSpec> inputs{};
  std::vector<TensorSpec> outputs{};
  std::vector<CompileSpec> compile_specs{};
  // Outputs always have a place in the method's planned memory. If this is set, inputs have one too, and ExecuTorch
  // copies the caller's data there; otherwise it passes on the caller's memory.
  bool plan_inputs = false;
  // A power of two of at least 16, to which the payload is aligned in the file. The default is the page size of most
  // machines, and the alignment of files in a bundle.
  std::size_t payload_alignment = 4096;
  // Puts the payload into the flatbuffer instead of a segment, as exporters can do. It is then held in memory.
  bool inline_payload = false;
};

// Writes the program. Returns kInvalidArgument for an invalid one: no payload, missing names, more than kTensorsMax
// inputs or outputs, ranks above kRankMax, negative or too large sizes, invalid dimension orders, a payload that
// differs from its declared size; kUnsupported without the schema; or the errors of the sink and the payload.
[[nodiscard]] core::Status write_program(const ProgramSpec& spec, const Payload& payload, const Sink& sink);

inline constexpr std::size_t kTensorsMax = 1024;

// The same in memory, for small programs.
[[nodiscard]] core::Result<std::string> program_bytes(const ProgramSpec& spec, std::string_view payload);

}  // namespace latebind::pte
