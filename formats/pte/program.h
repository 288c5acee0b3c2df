// What the writer, the reader and the converter of ExecuTorch's programs (.pte) share: names, element types, and how
// the bytes of a file are passed. Values; any thread.
//
// A .pte is a flatbuffer (the SDK's schema/program.fbs) with an extended header, followed by segments of plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/result.h"

namespace latebind::pte {

// The id under which Latebind registers in ExecuTorch, and the id of the backend whose programs can be converted. They
// have the same length, so that one can replace the other (docs/decisions/0024-pte-files.md).
inline constexpr std::string_view kBackendId = "LatebindBackend";
inline constexpr std::string_view kStockBackendId = "OpenvinoBackend";

// Whether this build supports programs. Without the SDK's schema, every function that reads or writes a program returns
// kUnsupported with what to install.
[[nodiscard]] bool is_built_in();

// The element types that both sides have, with ExecuTorch's numbers.
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

// Bytes of one element; 0 for other numbers.
[[nodiscard]] std::size_t size_of(ScalarType type);
// "f32", "i64", "bool" …; "" for other numbers.
[[nodiscard]] std::string_view name_of(ScalarType type);
// Converts LB_F32 and so on; std::nullopt for other numbers.
[[nodiscard]] std::optional<ScalarType> scalar_type_of(std::int32_t lb_type);

// ExecuTorch's maximum rank.
inline constexpr std::size_t kRankMax = 16;

// Whether the file has the flatbuffer's identifier: a cheap check that is no proof.
[[nodiscard]] bool looks_like_program(std::span<const std::byte> file);

// Receives the bytes of a file in order. An error stops the writer, which returns it. The bytes until then are not a
// program, so a file should become visible only after the last byte.
using Sink = std::function<core::Status(std::span<const std::byte>)>;

// Bytes that are generated while they are written. `write` must pass exactly `size` bytes to its sink.
struct Payload {
  std::uint64_t size = 0;
  std::function<core::Status(const Sink& sink)> write;

  // The bytes must stay alive until the payload has been written.
  static Payload of(std::span<const std::byte> bytes);
};

// Writes the payload and checks its size; returns kInvalidArgument if it differs.
[[nodiscard]] core::Status write_payload(const Payload& payload, const Sink& sink);

}  // namespace latebind::pte
