// Reads an untrusted program (.pte). Every offset is checked before it is followed, and all amounts are limited. Only
// numbers and names are copied.
//
// The result refers to the bytes of the file, which must stay alive and unchanged as long as it is used. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "formats/pte/program.h"

namespace latebind::pte {

// Limits. Real programs are far below.
inline constexpr std::size_t kMethodsMax = 256;
inline constexpr std::size_t kValuesMax = 1024;     // inputs of a method, and outputs
inline constexpr std::size_t kDelegatesMax = 4096;  // delegates of a method
inline constexpr std::size_t kSpecsMax = 256;       // compile specs of a delegate
inline constexpr std::size_t kSegmentsMax = 65536;  // also for named data and inline payloads
inline constexpr std::size_t kNameMax = 4096;       // bytes

enum class Dynamism : std::uint8_t { kStatic, kBounded, kUnbounded };

struct Tensor {
  std::int8_t type = 0;  // ExecuTorch's number, possibly outside of ScalarType
  std::vector<std::int32_t> sizes{};
  std::vector<std::uint8_t> dim_order{};
  Dynamism dynamism = Dynamism::kStatic;
  bool is_planned = false;  // whether it has a place in the method's planned memory, given by the next two members
  std::uint32_t memory_id = 0;
  std::uint64_t memory_offset = 0;
};

// An input or output of a method.
struct Value {
  std::string_view name{};         // "" if the program has no names, which only Latebind's writer stores
  std::string_view kind{};         // "tensor", "int", "bool", "double", "string", "list", "none"
  std::optional<Tensor> tensor{};  // if the kind is "tensor"
};

struct DelegateSpec {
  std::string_view key{};
  std::span<const std::byte> value{};
};

struct Delegate {
  std::string_view id{};
  std::vector<DelegateSpec> compile_specs{};
  bool is_inline = false;  // whether the payload is in the flatbuffer; otherwise it is in a segment
  std::size_t index = 0;   // of the inline payload or the segment
  std::span<const std::byte> payload{};
  std::uint64_t payload_offset = 0;  // in the file
};

struct Method {
  std::string_view name{};
  std::vector<Value> inputs{};
  std::vector<Value> outputs{};
  std::vector<Delegate> delegates{};
  std::vector<std::int64_t> planned_bytes{};  // for each memory from id 1 on
  std::size_t values = 0;
  std::size_t delegate_calls = 0;
  std::size_t kernel_calls = 0;
  std::size_t other_instructions = 0;
};

struct Segment {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;
};

struct Program {
  std::uint32_t version = 0;
  std::uint64_t flatbuffer_bytes = 0;
  std::vector<Method> methods{};
  std::vector<Segment> segments{};
  std::size_t constants = 0;
  std::vector<std::string_view> named_data{};
};

// Reads a program. `file` has all of it, aligned to 16 bytes like mapped files and allocated memory. Returns
// kInvalidModel, with what is wrong, if it is not a program, is truncated or damaged, or exceeds a limit;
// kInvalidArgument for an unaligned address; kUnsupported without the schema.
[[nodiscard]] core::Result<Program> read_program(std::span<const std::byte> file);

// "f32", "i64" …, or "type 12" for a type that Latebind does not have.
[[nodiscard]] std::string type_text(std::int8_t type);

}  // namespace latebind::pte
