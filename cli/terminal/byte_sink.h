// ByteSink is the destination of a result: stdout, or a file that appears only once it is complete.
//
// The command that opened it owns it. One thread at a time. After an error it can only be discarded, and an existing
// file keeps its content.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::cli {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  // Returns kDiskFull, kIo, or closed_pipe().
  [[nodiscard]] virtual core::Status write(std::string_view bytes) = 0;

  // Whether rewrite() is supported.
  [[nodiscard]] virtual bool can_rewrite() const = 0;
  // Replaces bytes already written, at `offset` from the start.
  [[nodiscard]] virtual core::Status rewrite(std::size_t offset, std::string_view bytes) = 0;

  // Completes the output. Must be the last call.
  [[nodiscard]] virtual core::Status finish() = 0;
};

// Opens stdout if `file` is empty or "-". A pipe or a device (/dev/stdout, /dev/full) is written to directly; any other
// file is replaced by a rename in finish().
[[nodiscard]] core::Result<std::unique_ptr<ByteSink>> open_sink(const std::string& file);

// Returns a sink that can rewrite: `target`, or a temporary file that finish() copies to it.
[[nodiscard]] core::Result<std::unique_ptr<ByteSink>> rewritable(std::unique_ptr<ByteSink> target);

// Writes a complete result to stdout.
[[nodiscard]] core::Status print(std::string_view text);

// Keeps results on the original stdout, and redirects what vendors' libraries print to stdout to stderr. Must precede
// the first sink.
void keep_results_apart();

}  // namespace latebind::cli
