// What the writer, the reader and the converter of ExecuTorch's programs (.pte) have in common: names, element types,
// and how a file's bytes are passed. Values; any thread.
//
// A .pte is a flatbuffer (the SDK's schema/program.fbs) with an extended header and, after it, segments of plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/result.h"

namespace latebind::pte {

// The id under which Latebind registers in ExecuTorch, and that of the backend whose programs can be converted. They
// have the same length, so that one can replace the other (docs/decisions/0024-pte.md).
inline constexpr std::string_view kBackendId = "LatebindBackend";
inline constexpr std::string_view kStockBackendId = "OpenvinoBackend";

// Whether this build supports programs: without the SDK's schema every function here that reads or writes a program
// returns kUnsupported with what to install.
[[nodiscard]] bool is_built_in();

// The element types that both sides know. The numbers are ExecuTorch's.
enum class ScalarType : std::int8_t {
  kU8 = 0,
  kI8 = 1,
  kI16 = 2,
  kI32 = 3,
  kI64 = 4,
  kF16 = 5,
  kF32 = 6,
  kF64 = 7,
  kBool = 11,
  kBF16 = 15,
  kU16 = 27,
  kU32 = 28,
  kU64 = 29,
};

// Bytes of one element; 0 for a number that is none of the above.
[[nodiscard]] std::size_t size_of(ScalarType type);
// "f32", "i64", "bool" …; "" for a number that is none of the above.
[[nodiscard]] std::string_view name_of(ScalarType type);
// From LB_F32 and so on; nothing for other numbers.
[[nodiscard]] std::optional<ScalarType> scalar_type_of(std::int32_t lb_type);

// ExecuTorch's maximum for a tensor.
inline constexpr std::size_t kRankMax = 16;

// True when this looks like a program by the flatbuffer's identifier: a cheap check that proves nothing.
[[nodiscard]] bool looks_like_program(std::span<const std::byte> file);

// Takes bytes in the order of the file. An error stops the writing and is returned by the writer; what was taken until
// then is not a program, so a file should appear only after the last byte.
using Sink = std::function<core::Status(std::span<const std::byte>)>;

// Bytes that are generated while they are written. `write` must pass exactly `size` bytes to its sink.
struct Payload {
  std::uint64_t size = 0;
  std::function<core::Status(const Sink& sink)> write;

  // The bytes must stay alive until the payload was written.
  static Payload of(std::span<const std::byte> bytes);
};

// Writes it and checks its size: kInvalidArgument if it differs.
[[nodiscard]] core::Status write_payload(const Payload& payload, const Sink& sink);

}  // namespace latebind::pte
