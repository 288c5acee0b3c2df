#include "formats/pte/program.h"

#include <fmt/format.h>

#include <string>

#include "formats/pte/reader.h"
#include "formats/pte/scalar_types.h"

namespace latebind::pte {

using core::Status;
using core::StatusCode;

std::size_t size_of(ScalarType type) {
  const SharedType* shared = shared_type(static_cast<std::int8_t>(type));
  return shared != nullptr ? shared->bytes : 0;
}

std::string_view name_of(ScalarType type) {
  const SharedType* shared = shared_type(static_cast<std::int8_t>(type));
  return shared != nullptr ? shared->name : std::string_view();
}

std::optional<ScalarType> scalar_type_of(std::int32_t lb_type) {
  const SharedType* shared = shared_type_of_lb(lb_type);
  return shared != nullptr ? std::optional(static_cast<ScalarType>(shared->scalar_type)) : std::nullopt;
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
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write a program: the payload is {} than declared", how));
  };
  std::uint64_t written = 0;
  LB_RETURN_IF_ERROR(payload.write([&](std::span<const std::byte> part) -> Status {
    if (part.size() > payload.size - written) return wrong("longer");
    written += part.size();
    return sink(part);
  }));
  return written == payload.size ? Status() : wrong("shorter");
}

}  // namespace latebind::pte
