// Implements `latebind search --index`: updates the index and finds the texts nearest to a query by its vectors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "app/index/update_index.h"
#include "cli/data/text_reader.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/matches.h"
#include "core/result.h"

namespace latebind::cli {

struct IndexSearch {
  std::string index{};
  std::filesystem::path model{};  // the path that the embedder was opened from
  std::string query{};
  std::size_t count = 1;
  std::size_t dimensions = 0;  // 0: all
  const PromptArguments* prompt = nullptr;
  const PromptArguments* query_prompt = nullptr;
  const TextSource* source = nullptr;  // how a line becomes a text
  std::uint64_t bytes_max = 0;
  bool quiet = false;
};
// Keeps all files of `found`; those that are not text are counted in its `left_out`.
[[nodiscard]] core::Result<MatchReport> search_index(const IndexSearch& search, app::FoundFiles& found,
                                                     const embedding::Embedder& embedder, const app::Runtime& runtime);

}  // namespace latebind::cli
