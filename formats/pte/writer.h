// Writes a program (.pte) with one method and one call of a delegate, without PyTorch.
//
//   ProgramSpec spec;
//   spec.inputs = {{.name = "x", .type = ScalarType::kF32, .sizes = {8, 16}, .is_dynamic = true}};
//   spec.outputs = {{.name = "y", .type = ScalarType::kF32, .sizes = {8, 4}, .is_dynamic = true}};
//   Status status = write_program(spec, Payload::of(bytes), sink);
//
// The method takes and gives the tensors in the order of `inputs` and `outputs`, and the delegate's arguments are the
// inputs, then the outputs. The payload is one segment of its own, aligned so that it can be used straight from a
// mapping of the file; it goes from its source to the sink and is never held whole. The same input gives the same
// bytes.
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
  bool is_dynamic = false;            // may be smaller than `sizes` when it is used
  // Dimensions from the outermost to the innermost, as they lie in memory; empty: row-major.
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
  // A power of two of at least 16: where the payload begins in the file is a multiple of it. The default is a page of
  // most machines, and what the files in a bundle are aligned to.
  std::size_t payload_alignment = 4096;
  // The payload in the flatbuffer instead of a segment, as exporters can be told to do. It is held in memory then.
  bool inline_payload = false;
};

// kInvalidArgument for what makes no program: no payload, names that are missing, too many tensors (kTensorsMax each
// way), ranks above kRankMax, negative sizes or too large ones, orders of dimensions that are none, a payload of
// another size than it said. What the sink or the payload return when they fail. kUnsupported without the schema.
[[nodiscard]] core::Status write_program(const ProgramSpec& spec, const Payload& payload, const Sink& sink);

inline constexpr std::size_t kTensorsMax = 1024;

// The same in memory, for programs that are small.
[[nodiscard]] core::Result<std::string> program_bytes(const ProgramSpec& spec, std::string_view payload);

}  // namespace latebind::pte
