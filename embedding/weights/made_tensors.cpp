#include "embedding/weights/made_tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <utility>

#include "core/tensor/half.h"

namespace latebind::embedding {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// The alignment of tensors in bytes.
constexpr std::uint64_t kAlignment = 64;

std::string dtype_of(ElementType type) {
  if (type == ElementType::kF16) return "F16";
  return type == ElementType::kBF16 ? "BF16" : "F32";
}

}  // namespace

Result<MadeTensors> MadeTensors::of(std::string name, std::span<const Wanted> wanted) try {
  MadeTensors made;
  made.name_ = std::move(name);
  std::uint64_t size = 0;
  for (const Wanted& one : wanted) {
    const std::string type = dtype_of(one.type);
    const auto bytes = bytes_of_shape(one.shape, *bits_of_type(type));
    if (!bytes) {
      return Status(StatusCode::kInvalidModel, place_of_tensor(made.name_, one.name) + " is larger than any memory");
    }
    made.entries_[one.name] = {.type = type, .shape = one.shape, .begin = size, .end = size + *bytes};
    size += (*bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  made.memory_ = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(size));
  made.part_.bytes = {made.memory_, {made.memory_.get(), static_cast<std::size_t>(size)}};
  return made;
} catch (const std::bad_alloc&) {
  return Status(StatusCode::kOutOfMemory, "no memory left for the weights that are made of others");
}

std::span<std::byte> MadeTensors::to_write(std::string_view tensor) {
  const Entry& entry = entries_.find(tensor)->second;
  return {memory_.get() + entry.begin, static_cast<std::size_t>(entry.end - entry.begin)};
}

void write_floats(std::span<const float> numbers, ElementType type, std::byte* to) {
  if (type == ElementType::kF32) {
    std::memcpy(to, numbers.data(), numbers.size_bytes());
    return;
  }
  for (const float number : numbers) {
    const std::uint16_t half = type == ElementType::kF16 ? core::to_f16(number) : core::to_bf16(number);
    std::memcpy(to, &half, sizeof half);
    to += sizeof half;
  }
}

void read_floats(const std::byte* from, ElementType type, std::span<float> numbers) {
  if (type == ElementType::kF32) {
    std::memcpy(numbers.data(), from, numbers.size_bytes());
    return;
  }
  for (float& number : numbers) {
    std::uint16_t half = 0;
    std::memcpy(&half, from, sizeof half);
    number = type == ElementType::kF16 ? core::from_f16(half) : core::from_bf16(half);
    from += sizeof half;
  }
}

}  // namespace latebind::embedding
