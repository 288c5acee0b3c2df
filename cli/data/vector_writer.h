// VectorWriter writes the results of one or several outputs in one of these formats. A format is a function of the
// results' forms (rows, sparse rows, ragged rows), not of the model:
//
//   jsonl  one object per line: {"index":0,…}, then "id":… if the text has an id, then the results. Those of a single
//          output are "embedding":[0.1,…] for a row, "indices":[5,…],"values":[0.1,…] for a sparse row, with ascending
//          indices, and "vectors":[[0.1,…],…] for ragged rows. With several outputs, each has a member with its name:
//          "dense":[0.1,…], "sparse":{"indices":[…],"values":[…]}, "token_vectors":[[0.1,…],…]. Each number is the
//          shortest that reads back as the same f32.
//   npy    arrays of type '<f4': one of shape (texts, dimension) for rows; for ragged rows one of shape (vectors,
//          dimension) and one of type '<i8' with the number of vectors of each text. files_of() names the files. The
//          header contains the count, so output to a pipe is first spooled to a temporary file.
//   f32    the numbers of rows alone, little-endian, row after row
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
#include <vector>

#include "cli/terminal/byte_sink.h"
#include "core/config.h"
#include "core/result.h"
#include "embedding/outputs/output.h"
#include "embedding/results.h"

namespace latebind::cli {

enum class VectorFormat : std::int32_t {
  kJsonl = 0,
  kNpy = 1,
  kF32 = 2,
  kParquet = 3,  // written by the Python package
};

// Receives the ids of texts in formats that cannot hold them: one JSON value per line, null for a text without an id.
using IdSink = std::function<core::Status(std::string_view line)>;

// An output whose results are written.
struct WrittenOutput {
  std::string name;
  embedding::ResultForm form{};
  std::size_t dimension = 0;  // of a row; 0 for sparse rows
};

// Returns kInvalidArgument if the format cannot hold the results of these outputs.
[[nodiscard]] core::Status check_format(VectorFormat format, std::span<const WrittenOutput> outputs);
// Returns the names of the files for an output `file`: `file` itself for one row of each text or one object per line;
// otherwise vectors.npy becomes vectors.NAME.npy for each output, and vectors.NAME.counts.npy for ragged rows.
[[nodiscard]] std::vector<std::string> files_of(VectorFormat format, const std::string& file,
                                                std::span<const WrittenOutput> outputs);

class VectorWriter {
 public:
  virtual ~VectorWriter() = default;

  // `sinks` are those of files_of(). `first` is the number of texts that they already contain; it must be 0 for several
  // sinks. Without `ids`, formats that cannot hold ids drop them. Returns the errors of check_format().
  static core::Result<std::unique_ptr<VectorWriter>> make(VectorFormat format,
                                                          std::vector<std::unique_ptr<ByteSink>> sinks,
                                                          std::vector<WrittenOutput> outputs, std::uint64_t first = 0,
                                                          IdSink ids = {});

  // Writes the results of `texts` texts, one for each output, as EmbedStream gives them. `ids` are those of the texts,
  // as JSON, or "" for a text without an id; the list may be empty.
  [[nodiscard]] virtual core::Status write(std::span<const embedding::ResultWindow> results, std::size_t texts,
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
                                     Word<cli::VectorFormat>{"parquet", cli::VectorFormat::kParquet}};
};
