// The types of tensors in GGUF: the elements and the bytes of a block, and the conversion to f32.
//
// Source: ggml's ggml.h, ggml-common.h and the reference functions of ggml-quants.c, which define the numbers. Pure
// functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/computed_bytes.h"

namespace latebind::embedding {

// The elements of the largest block.
inline constexpr std::size_t kGgufBlockMax = 256;

struct GgufType {
  std::uint32_t number = 0;  // the number in files
  std::string_view name{};
  std::size_t elements = 1;  // in a block
  std::size_t bytes = 0;     // in a block
  // Converts `count` consecutive blocks to f32. Null for types that Latebind does not support.
  void (*dequantize)(const std::byte* blocks, std::size_t count, float* to) = nullptr;
  // Takes consecutive blocks apart into `groups` groups. Null for types without groups of numbers of four bits.
  void (*take_groups)(const std::byte* blocks, std::size_t groups, core::FourBitGroup* to) = nullptr;
};

// Returns null for an unknown number.
[[nodiscard]] const GgufType* find_gguf_type(std::uint32_t number);
// Returns the names of the supported types, for messages.
[[nodiscard]] std::vector<std::string_view> gguf_types_read();

}  // namespace latebind::embedding
