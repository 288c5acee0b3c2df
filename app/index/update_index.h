// Brings an index up to date with a set of files, embedding only those that have changed.
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

// Cuts the content of a file into texts. The content outlives it.
class TextCutter {
 public:
  TextCutter() = default;
  TextCutter(const TextCutter&) = delete;
  TextCutter& operator=(const TextCutter&) = delete;
  virtual ~TextCutter() = default;

  // The bytes [begin, end) of the content that give one text.
  struct Piece {
    std::uint64_t line = 0;  // where it begins, from 1
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text{};
    std::string id{};  // as JSON; empty: none
  };
  // Returns false at the end. `piece` has the line of an error.
  [[nodiscard]] virtual core::Result<bool> next(Piece& piece) = 0;
  // Fills in the text and the id of a piece that next() found earlier, perhaps of another cutter.
  [[nodiscard]] virtual core::Status read(Piece& piece) = 0;
};

struct IndexRequest {
  std::filesystem::path file{};  // the index; its folder must exist
  IndexedBy by{};
  std::span<const FoundFile> texts{};
  std::uint64_t bytes_max = kTextFileBytesMax;  // the size limit for a file with texts
  // Makes the cutter of a file. Empty texts are skipped.
  std::function<std::unique_ptr<TextCutter>(const FoundFile& file, std::string_view content)> cut{};
  const embedding::Embedder* embedder = nullptr;
  embedding::EmbedStreamOptions stream{};
  // Receives what the user should know but is not an error.
  std::function<void(std::string_view)> note{};
  // `on_begin` receives the bytes of all files to be read, before the first one; `on_progress` what has been done since
  // the last call.
  std::function<void(std::uint64_t bytes)> on_begin{};
  std::function<void(std::uint64_t texts, std::uint64_t bytes)> on_progress{};
};

struct IndexUpdate {
  std::shared_ptr<const TextIndex> index{};
  // The index's number for each file of the request; std::nullopt for a file that is not text.
  std::vector<std::optional<std::size_t>> places{};
  std::size_t embedded_files = 0;
  std::size_t removed_files = 0;
  LeftOut left_out{};  // files in folders that turned out not to be text
  embedding::EmbedStats stats{};
};

// Updates the index and returns it. Texts of files outside the request are kept as long as those files are unchanged.
// An index made with another model or other options is rebuilt. The file is replaced as a whole at the end and about
// every half minute before, so that an interrupted update can be resumed. One process at a time updates an index;
// others wait. Returns the errors of TextIndex::open(), write_index(), read_text() and embedding, and kBusy if another
// process holds the index for too long.
[[nodiscard]] core::Result<IndexUpdate> update_index(const IndexRequest& request);

// A text of a file: its number, and its content once read_places() has filled it in.
struct TextPlace {
  std::size_t text = 0;
  std::string content{};
  std::string id{};  // as JSON; empty: none
};
// Fills in the content of texts of one file of the request. Returns kIo if the file has changed since it was embedded.
[[nodiscard]] core::Status read_places(const IndexRequest& request, const IndexUpdate& update, std::size_t file,
                                       std::span<TextPlace> places);

}  // namespace latebind::app
