// Reads and writes NumPy's .npy files, which hold one array each. Reading maps the file; writing uses a header that can
// be patched.
//
// The format is that of NumPy Enhancement Proposal 1 and numpy.lib.format (versions 1.0, 2.0 and 3.0). Little endian
// only. Row-major and column-major arrays are read, row-major ones are written. Files are untrusted: every number in a
// header is bounded before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::app {

// No array of at most core::kRankMax dimensions needs a longer header.
inline constexpr std::size_t kNpyHeaderMax = std::size_t{64} * 1024;

struct NpyHeader {
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
  bool column_major = false;
  std::size_t data_offset = 0;
};

// Parses the header at the start of `bytes`. Returns kInvalidModel if it is damaged, and kUnsupported for element
// types, byte orders and ranks that Latebind's tensors do not have. Two-byte void elements are read as bf16, because
// ml_dtypes writes bf16 that way.
[[nodiscard]] core::Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes);

// Returns a header for a row-major array, padded to `size` bytes (0: to the next multiple of 64), so that another one
// of that size can replace it once the shape is known. NumPy has no bf16: write such data as f32.
[[nodiscard]] core::Result<std::string> make_npy_header(core::ElementType type, std::span<const std::int64_t> dims,
                                                        std::size_t size = 0);

// An array in a file. The view is valid as long as any copy of the array lives.
struct NpyArray {
  std::shared_ptr<const void> owner;
  core::TensorView view;
};

// Maps the file, which must hold exactly the bytes that its header announces. Errors name the file.
[[nodiscard]] core::Result<NpyArray> read_npy(const std::filesystem::path& file);

// Returns the bytes of a whole file. bf16 is widened to f32, which is exact.
[[nodiscard]] core::Result<std::string> npy_bytes(const core::TensorView& tensor);

}  // namespace latebind::app
