// The types of tensors in GGUF: how many elements a block has, and how many bytes, and their conversion to f32.
//
// Source: ggml's ggml.h, ggml-common.h and the reference functions of ggml-quants.c, which define the numbers. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::embedding {

// The largest block.
inline constexpr std::size_t kGgufBlockMax = 256;

struct GgufType {
  std::uint32_t number = 0;  // in files
  std::string_view name{};
  std::size_t elements = 1;  // of a block
  std::size_t bytes = 0;     // of a block
  // Converts blocks to f32; null for types that Latebind does not read.
  void (*dequantize)(const std::byte* blocks, std::size_t count, float* to) = nullptr;
};

// Returns null for an unknown number.
[[nodiscard]] const GgufType* find_gguf_type(std::uint32_t number);
// The names of the types that are read, for messages.
[[nodiscard]] std::vector<std::string_view> gguf_types_read();

}  // namespace latebind::embedding
