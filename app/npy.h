// NumPy's .npy files: one array each, read by mapping the file and written with a header that can be patched.
//
// Source of the format: NumPy Enhancement Proposal 1 and numpy.lib.format (versions 1.0, 2.0 and 3.0). Little endian
// only; row-major and column-major are read, row-major is written. Files come from outside, so every number in a header
// is bounded before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "core/tensor.h"

namespace latebind::app {

// A header longer than this belongs to no array of at most core::kRankMax dimensions.
inline constexpr std::size_t kNpyHeaderMax = std::size_t{64} * 1024;

struct NpyHeader {
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
  bool column_major = false;
  std::size_t data_offset = 0;
};

// Reads the header at the start of `bytes`. kInvalidModel when it is damaged, kUnsupported for element types, byte
// orders and ranks that Latebind's tensors do not have. Two-byte void elements are taken for bf16, as ml_dtypes writes
// them.
[[nodiscard]] core::Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes);

// A header for a row-major array, padded to `size` bytes in all (0: to the next multiple of 64), so that one of the
// same size can replace it when the shape is known. bf16 has no name in NumPy: write it as f32.
[[nodiscard]] core::Result<std::string> make_npy_header(core::ElementType type, std::span<const std::int64_t> dims,
                                                        std::size_t size = 0);

// An array in a file. The view stays valid as long as any copy of the array lives.
struct NpyArray {
  std::shared_ptr<const void> owner;
  core::TensorView view;
};

// Errors name the file. The file must hold exactly the bytes that its header announces.
[[nodiscard]] core::Result<NpyArray> read_npy(const std::filesystem::path& file);

// The bytes of a whole file. bf16 becomes f32, which holds each of its values.
[[nodiscard]] core::Result<std::string> npy_bytes(const core::TensorView& tensor);

}  // namespace latebind::app
