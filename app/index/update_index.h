// Brings an index up to date with the files it is asked about, and embeds only what has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/index/find_texts.h"
#include "app/index/text_index.h"
#include "core/result.h"
#include "embedding/embed_stream.h"

namespace latebind::app {

struct IndexRequest {
  std::filesystem::path file{};  // the index; its folder exists
  IndexedBy by{};
  std::span<const FoundFile> texts{};
  std::uint64_t bytes_max = kTextFileBytesMax;  // of a file with texts
  // The text in a line; empty ones are left out.
  std::function<core::Result<std::string>(std::string_view line)> text_of{};
  const embedding::Embedder* embedder = nullptr;
  embedding::EmbedStreamOptions stream{};
  // Something that the user should know but is not an error.
  std::function<void(std::string_view)> note{};
  // The bytes of all files that have to be read, before the first one; and what has been done of them since.
  std::function<void(std::uint64_t bytes)> on_begin{};
  std::function<void(std::uint64_t texts, std::uint64_t bytes)> on_progress{};
};

struct IndexUpdate {
  std::shared_ptr<const TextIndex> index{};
  // For each file of the request its number in the index; nothing where it is no text.
  std::vector<std::optional<std::size_t>> places{};
  std::size_t embedded_files = 0;
  std::size_t removed_files = 0;
  LeftOut left_out{};  // of files in folders, what is no text
  embedding::EmbedStats stats{};
};

// Texts of files that are not asked about stay as long as these files are unchanged. An index that was made by another
// model or otherwise is made anew. The file is replaced as a whole, when all is done and about every half minute
// before, so that what is interrupted goes on from there; one process at a time updates it, others wait. The errors of
// TextIndex::open(), write_index(), read_text() and embedding; kBusy when another process does not finish.
[[nodiscard]] core::Result<IndexUpdate> update_index(const IndexRequest& request);

// A text of a file: its number, and its content once read_places() has read it.
struct TextPlace {
  std::size_t text = 0;
  std::string content{};
};
// Reads texts of one file of the request again. kIo when the file is no longer what was embedded.
[[nodiscard]] core::Status read_places(const IndexRequest& request, const IndexUpdate& update, std::size_t file,
                                       std::span<TextPlace> places);

}  // namespace latebind::app
