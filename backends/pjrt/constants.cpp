#include "backends/pjrt/constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/platform/random.h"
#include "core/tensor/half.h"

namespace latebind::pjrt {

using core::ElementType;
using core::Result;

namespace {

Element element_of(ElementType type) {
  if (type == ElementType::kF16) return Element::kF16;
  return type == ElementType::kBF16 ? Element::kBF16 : Element::kF32;
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t i) {
  Number number{};
  std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
  return number;
}

float float_at(ElementType type, std::span<const std::byte> bytes, std::size_t i) {
  if (type == ElementType::kF32) return number_at<float>(bytes, i);
  const auto half = number_at<std::uint16_t>(bytes, i);
  return type == ElementType::kF16 ? core::from_f16(half) : core::from_bf16(half);
}

std::span<const std::byte> converted(const graph::Weight& weight, std::span<const std::byte> bytes, Element to,
                                     std::vector<std::byte>& kept) {
  const std::size_t count = bytes.size() / core::size_of(weight.type);
  kept.resize(count * size_of(to));
  for (std::size_t i = 0; i < count; ++i) {
    const float number = float_at(weight.type, bytes, i);
    if (to == Element::kF32) {
      std::memcpy(kept.data() + i * sizeof number, &number, sizeof number);
    } else {
      const std::uint16_t half = to == Element::kF16 ? core::to_f16(number) : core::to_bf16(number);
      std::memcpy(kept.data() + i * sizeof half, &half, sizeof half);
    }
  }
  return kept;
}

}  // namespace

// The seed is not known to who makes a model, so nobody can make weights that are taken for those of another model.
Constants::Constants(std::shared_ptr<const Client> client)
    : client_(std::move(client)), seed_(platform::random_number()) {}

Result<SharedBuffer> Constants::get(std::size_t device, Element element, const Dims& dims,
                                    std::span<const std::byte> bytes) {
  const XXH128_hash_t sum = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed_);
  const std::string key =
      fmt::format("{} {} {} {:016x}{:016x}", device, word_of(element), fmt::join(dims, "x"), sum.high64, sum.low64);
  const core::MutexLock lock(mutex_);
  if (auto known = buffers_[key].lock()) return known;
  std::erase_if(buffers_, [](const auto& each) { return each.second.expired(); });
  LB_ASSIGN_OR_RETURN(OwnedBuffer uploaded,
                      client_->upload(client_->devices()[device], bytes.data(), element, dims, Doing::kCompiling));
  const auto made = std::make_shared<const OwnedBuffer>(std::move(uploaded));
  buffers_[key] = made;
  return SharedBuffer(made);
}

std::size_t Constants::count() {
  const core::MutexLock lock(mutex_);
  std::erase_if(buffers_, [](const auto& each) { return each.second.expired(); });
  return buffers_.size();
}

std::span<const std::byte> bytes_of(const NetworkConstant& constant, const graph::Graph& graph,
                                    std::vector<std::byte>& kept) {
  if (const auto* const weight = std::get_if<graph::Weight>(&constant.from)) {
    const std::span<const std::byte> bytes = graph.bytes_of(*weight);
    return element_of(weight->type) == constant.element ? bytes : converted(*weight, bytes, constant.element, kept);
  }
  return std::visit(
      [](const auto& numbers) -> std::span<const std::byte> {
        if constexpr (requires { numbers.data(); }) {
          return std::as_bytes(std::span(numbers));
        } else {
          return {};
        }
      },
      constant.from);
}

}  // namespace latebind::pjrt
