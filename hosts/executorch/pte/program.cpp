#include "hosts/executorch/pte/program.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "hosts/executorch/pte/reader.h"

namespace latebind::pte {
namespace {

struct Known {
  ScalarType type;
  std::int32_t lb_type;
  std::uint8_t bytes;
  std::string_view name;
};

constexpr std::array kKnown{
    Known{ScalarType::kBool, LB_BOOL, 1, "bool"}, Known{ScalarType::kI8, LB_I8, 1, "i8"},
    Known{ScalarType::kU8, LB_U8, 1, "u8"},       Known{ScalarType::kI16, LB_I16, 2, "i16"},
    Known{ScalarType::kU16, LB_U16, 2, "u16"},    Known{ScalarType::kI32, LB_I32, 4, "i32"},
    Known{ScalarType::kU32, LB_U32, 4, "u32"},    Known{ScalarType::kI64, LB_I64, 8, "i64"},
    Known{ScalarType::kU64, LB_U64, 8, "u64"},    Known{ScalarType::kF16, LB_F16, 2, "f16"},
    Known{ScalarType::kBF16, LB_BF16, 2, "bf16"}, Known{ScalarType::kF32, LB_F32, 4, "f32"},
    Known{ScalarType::kF64, LB_F64, 8, "f64"},
};

}  // namespace

std::size_t size_of(ScalarType type) {
  for (const Known& known : kKnown) {
    if (known.type == type) return known.bytes;
  }
  return 0;
}

std::string_view name_of(ScalarType type) {
  for (const Known& known : kKnown) {
    if (known.type == type) return known.name;
  }
  return {};
}

std::optional<ScalarType> scalar_type_of(std::int32_t lb_type) {
  for (const Known& known : kKnown) {
    if (known.lb_type == lb_type) return known.type;
  }
  return std::nullopt;
}

std::string type_text(std::int8_t type) {
  const std::string_view name = name_of(static_cast<ScalarType>(type));
  return name.empty() ? fmt::format("type {}", static_cast<int>(type)) : std::string(name);
}

Payload Payload::of(std::span<const std::byte> bytes) {
  return {bytes.size(), [bytes](const Sink& sink) { return sink(bytes); }};
}

Status write_payload(const Payload& payload, const Sink& sink) {
  const auto wrong = [](std::string_view how) {
    return Status(LB_INVALID_ARGUMENT, fmt::format("cannot write a program: the payload is {} than it said", how));
  };
  std::uint64_t written = 0;
  Status status = payload.write([&](std::span<const std::byte> part) -> Status {
    if (part.size() > payload.size - written) return wrong("longer");
    written += part.size();
    return sink(part);
  });
  if (!status.ok()) return status;
  return written == payload.size ? Status() : wrong("shorter");
}

}  // namespace latebind::pte
