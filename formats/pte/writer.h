// Writes a program (.pte) with one method and one call of a delegate, without PyTorch.
//
//   ProgramSpec spec;
//   spec.inputs = {{.name = "x", .type = ScalarType::kF32, .sizes = {8, 16}, .is_dynamic = true}};
//   spec.outputs = {{.name = "y", .type = ScalarType::kF32, .sizes = {8, 4}, .is_dynamic = true}};
//   Status status = write_program(spec, Payload::of(bytes), sink);
//
// The method takes and returns the tensors in the order of `inputs` and `outputs`, and the delegate's arguments are the
// inputs, then the outputs. The payload is one segment of its own, aligned so that it can be used directly from a
// mapping of the file; it is streamed from its source to the sink. The same input gives the same bytes.
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
  std::vector<std::int32_t> sizes{};  // upper bounds where dynamic; empty: rank 0
  bool is_dynamic = false;            // may be smaller than `sizes` at run time
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
  // Outputs always have a place in the method's planned memory. Inputs have one only when this is set: then ExecuTorch
  // copies what it is given there; otherwise it passes the caller's memory on.
  bool plan_inputs = false;
  // A power of two of at least 16, to which the payload is aligned in the file. The default is the page size of most
  // machines, and the alignment of the files in a bundle.
  std::size_t payload_alignment = 4096;
  // The payload in the flatbuffer instead of a segment, as exporters can be told to do. It is then held in memory.
  bool inline_payload = false;
};

// kInvalidArgument for an invalid program: no payload, missing names, too many tensors (kTensorsMax each way), ranks
// above kRankMax, negative or too large sizes, invalid dimension orders, a payload of another size than declared. The
// sink's or the payload's own errors. kUnsupported without the schema.
[[nodiscard]] core::Status write_program(const ProgramSpec& spec, const Payload& payload, const Sink& sink);

inline constexpr std::size_t kTensorsMax = 1024;

// The same in memory, for small programs.
[[nodiscard]] core::Result<std::string> program_bytes(const ProgramSpec& spec, std::string_view payload);

}  // namespace latebind::pte
