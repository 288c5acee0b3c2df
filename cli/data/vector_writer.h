// VectorWriter writes vectors to an output in one of these formats:
//
//   jsonl         {"index":0,"embedding":[0.1,…]} per line; each number is the shortest that reads back as the same
//   f32.
//                 As in the other JSON formats, "id":… follows the index if the text has an id.
//   npy           one array of shape (texts, dimension), '<f4'. The header contains the count, so output to a pipe is
//                 first spooled to a temporary file.
//   f32           the numbers alone, little-endian, row after row
//   sparse        {"index":0,"indices":[5,…],"values":[0.1,…]} per line, with ascending indices
//   multi-vector  {"index":0,"vectors":[[0.1,…],…]} per line, with the vectors of the tokens that have one
//
// Memory is bounded for any number of rows. One thread at a time. See ByteSink for errors.
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

// Receives the ids of texts in formats that cannot hold them: one JSON value per line, null for a text without an id.
using IdSink = std::function<core::Status(std::string_view line)>;

class VectorWriter {
 public:
  virtual ~VectorWriter() = default;

  // `first` is the number of texts that the sink already contains. Without `ids`, formats that cannot hold ids drop
  // them. kParquet is not supported.
  static core::Result<std::unique_ptr<VectorWriter>> make(VectorFormat format, std::unique_ptr<ByteSink> sink,
                                                          std::size_t dimension, std::uint64_t first = 0,
                                                          IdSink ids = {});

  // Writes finite vectors as an embedder returns them, or sparse ones for a sparse format. `ids` are those of the
  // texts, as JSON, or "" for a text without an id; the list may be empty.
  [[nodiscard]] virtual core::Status write(const embedding::VectorWindow& window,
                                           std::span<const std::string> ids = {}) = 0;
  // Completes the output. Must be the last call.
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
