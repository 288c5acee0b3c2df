// VectorWriter: vectors to an output, as JSON lines, as one .npy array or as raw numbers; sparse ones as JSON lines.
//
//   jsonl  {"index":0,"embedding":[0.1,…]} a line, each number the shortest that reads back as the same f32; with
//          "id":… behind the index where the text has one, as in the other JSON lines
//   npy    one array of shape (texts, dimension), '<f4'. Its header holds the count, so that on a pipe it is spooled in
//          a temporary file first
//   f32    the numbers alone, little-endian, row after row
//   sparse {"index":0,"indices":[5,…],"values":[0.1,…]} a line, the indices rising
//   multi-vector  {"index":0,"vectors":[[0.1,…],…]} a line, a vector for each token that has one
// Memory stays bounded however many rows there are. One thread at a time; see ByteSink for errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/terminal/byte_sink.h"
#include "core/config.h"
#include "core/result.h"
#include "embedding/embed_stream.h"

namespace latebind::cli {

enum class VectorFormat : std::int32_t {
  kJsonl = 0,
  kNpy = 1,
  kF32 = 2,
  kSparse = 3,
  kMultiVector = 4,
  kParquet = 5,  // written by the Python package
};

// Where the ids of texts go in a format that has no place for them: a JSON value a line, null for none.
using IdSink = std::function<core::Status(std::string_view line)>;

class VectorWriter {
 public:
  virtual ~VectorWriter() = default;

  // `first`: how many texts the sink already holds. Without `ids`, formats that have no field for ids drop them.
  // Not for kParquet.
  static core::Result<std::unique_ptr<VectorWriter>> make(VectorFormat format, std::unique_ptr<ByteSink> sink,
                                                          std::size_t dimension, std::uint64_t first = 0,
                                                          IdSink ids = {});

  // Vectors of finite numbers, as an embedder returns them: sparse ones where those are written. `ids` of the texts, as
  // JSON, "" for none; or none at all.
  [[nodiscard]] virtual core::Status write(const embedding::VectorWindow& window,
                                           std::span<const std::string> ids = {}) = 0;
  // Completes the output. Last call.
  [[nodiscard]] virtual core::Status finish() = 0;
};

}  // namespace latebind::cli

template <>
struct latebind::core::Words<latebind::cli::VectorFormat> {
  static constexpr std::string_view kWhat = "output format";
  static constexpr std::array kWords{Word<cli::VectorFormat>{"jsonl", cli::VectorFormat::kJsonl},
                                     Word<cli::VectorFormat>{"npy", cli::VectorFormat::kNpy},
                                     Word<cli::VectorFormat>{"f32", cli::VectorFormat::kF32},
                                     Word<cli::VectorFormat>{"sparse", cli::VectorFormat::kSparse},
                                     Word<cli::VectorFormat>{"multi-vector", cli::VectorFormat::kMultiVector},
                                     Word<cli::VectorFormat>{"parquet", cli::VectorFormat::kParquet}};
};
