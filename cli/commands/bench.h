// Declarations shared by the files of `latebind bench embed`.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "app/runtime.h"
#include "cli/data/text_reader.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/messages.h"
#include "core/result.h"
#include "embedding/embedder.h"

namespace latebind::cli {

struct BenchArguments {
  EmbedderOptions embedder{};
  TextSource source{};
  std::size_t repeat = 2;
  std::size_t texts_max = 10000;
  std::size_t singles = 200;
  bool compare = false;
  bool json = false;
};

// A runtime without the compile cache, for measurements that the cache does not affect.
[[nodiscard]] core::Result<app::Runtime> runtime_without_cache(const BenchArguments& options,
                                                               core::PerformanceHint hint);

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Selects `count` texts spread over the file, which are timed one by one.
[[nodiscard]] std::vector<std::string_view> single_texts(std::span<const std::string_view> texts, std::size_t count);
// Returns the seconds for one text, after one run that is not timed.
[[nodiscard]] core::Result<double> time_single(const embedding::Embedder& embedder, std::string_view text,
                                               std::span<float> vector);

// Compares devices and precisions in alternation, and recommends one.
[[nodiscard]] Exit bench_compare(const BenchArguments& options, std::span<const std::string_view> texts);

}  // namespace latebind::cli
