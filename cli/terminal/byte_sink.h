// ByteSink: the destination of a result's bytes: stdout, or a file that appears only when it is complete.
//
// Owned by the command that opened it; one thread at a time. After an error it can only be discarded, and a file's
// place keeps what it had.
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

  // kDiskFull, kIo, or closed_pipe().
  [[nodiscard]] virtual core::Status write(std::string_view bytes) = 0;

  // True when rewrite() works.
  [[nodiscard]] virtual bool can_rewrite() const = 0;
  // Replaces bytes written before, at `offset` from the start.
  [[nodiscard]] virtual core::Status rewrite(std::size_t offset, std::string_view bytes) = 0;

  // Completes the output. Last call.
  [[nodiscard]] virtual core::Status finish() = 0;
};

// `file` empty or "-": stdout. A pipe or a device (/dev/stdout, /dev/full) is written to as it is; anything else is
// replaced by rename at finish().
[[nodiscard]] core::Result<std::unique_ptr<ByteSink>> open_sink(const std::string& file);

// A sink that can rewrite: `target` itself, or a temporary file that finish() copies to it.
[[nodiscard]] core::Result<std::unique_ptr<ByteSink>> rewritable(std::unique_ptr<ByteSink> target);

// Writes a whole result to stdout.
[[nodiscard]] core::Status print(std::string_view text);

// From now on, results go to the original stdout, and what vendors' libraries print to stdout goes to stderr. Before
// the first sink is opened.
void keep_results_apart();

}  // namespace latebind::cli
